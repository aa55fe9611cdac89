#include "pipeline/show/markdown.h"

#include <catch2/catch.hpp>
#include <string>

using kdgat::markdown_html;

TEST_CASE("Markdown becomes headings, lists, code and links", "[markdown]") {
  CHECK(markdown_html("# A *b*\ntext **c**\nmore `x<y`\n") ==
        "<h2>A <i>b</i></h2>\n<p>text <b>c</b>\nmore <code>x&lt;y</code></p>\n");
  CHECK(markdown_html("- a\n- b\n\n1. c\n2. d") ==
        "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n");
  CHECK(markdown_html("```\n<b> **x**\n```\nz") == "<pre>&lt;b&gt; **x**\n</pre>\n<p>z</p>\n");
  CHECK(markdown_html("> q\n\n---") == "<blockquote>q</blockquote>\n<hr>\n");
  CHECK(markdown_html("[k](https://a.b/c?d=1&e)") ==
        "<p><a href=\"https://a.b/c?d=1&amp;e\" rel=\"noopener\">k</a></p>\n");
  CHECK(markdown_html("3 * 4 * 5 and 2**3") == "<p>3 * 4 * 5 and 2**3</p>\n");
  CHECK(markdown_html("### A", 3) == "<h5>A</h5>\n");
}

TEST_CASE("no tag, script or address of a note passes", "[markdown]") {
  for (const std::string text :
       {"<script>x()</script>", "[a](javascript:alert(1))", "[a](data:text/html,x)",
        "**<img src=x onerror=y>**", "[<b>](https://a.b/\"onclick=\"x)", "`</code><script>`",
        "```\n</pre><script>\n```", "# <h1 onload=x>", "- <li style=x>", "[a](file:///etc/passwd)",
        "![a](https://a.b/c.png)"}) {
    const std::string html = markdown_html(text);
    INFO(html);
    for (const char* bad : {"<script", "<img", "<h1", "<li ", "onclick=\"", "href=\"javascript",
                            "href=\"data", "href=\"file"}) {
      CHECK(html.find(bad) == std::string::npos);
    }
  }
}
