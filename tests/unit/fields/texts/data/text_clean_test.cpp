#include "fields/texts/data/text_clean.h"

#include <catch2/catch.hpp>
#include <string>

#include "engine/file/utf8.h"
#include "fields/texts/data/stop_words.h"

namespace kdgat::texts {
namespace {

std::string cleaned(const std::string& cleaning, const std::string& text) {
  TextCleaner cleaner(cleaning);
  std::string out;
  for (const std::string_view word : cleaner.words(text)) {
    out += (out.empty() ? "" : "|") + std::string(word);
  }
  return out;
}

}  // namespace

TEST_CASE("the published tokens", "[text_clean]") {
  const auto tokens = [](const std::string& text) { return cleaned("original", text); };
  CHECK(tokens("The QUICK  brown\tfox\n") == "the|quick|brown|fox");
  CHECK(tokens("it's they've don't we're I'd she'll") ==
        "it|'s|they|'ve|do|n't|we|'re|i|'d|she|'ll");
  CHECK(tokens("Yes, no! (maybe)?") == "yes|,|no|!|(|maybe|)|?");
  CHECK(tokens("a-b_c d.e f&g 3.14 `q' #x") == "a|b|c|d|e|f|g|3|14|`q'|x");
  CHECK(tokens("'sting 'Ve DON'T can'tn't 'd'd") == "'sting|'ve|don't|ca|n't|n't|'d|'d");
  CHECK(tokens("na\xc3\xafve \xe2\x80\x99s") == "na|ve|s");  // no letters outside of ASCII
  CHECK(tokens("").empty());
  CHECK(tokens(" . ; \x01 ").empty());
}

TEST_CASE("the cleaning that drops addresses and encoded files", "[text_clean]") {
  const auto tokens = [](const std::string& text) { return cleaned("seed", text); };
  CHECK(tokens("Don't stop_here, 2 go!") == "don|t|stop_here|2|go");
  CHECK(tokens("see http://a.b/c?d (HTTPS://x.y) or www.z.org/q, please") == "see|or|please");
  CHECK(tokens("awww. wwwhat http no") == "awww|wwwhat|http|no");
  CHECK(tokens("this is Part 1 of 3 of it, part of 2, part 7 of") ==
        "this|is|of|it|part|of|2|part|7|of");
  CHECK(tokens("before begin 644 a.gif M0'AX>'AX M1\"#$% ` end after") == "before|after");
  CHECK(tokens("we begin 100 people end") == "we|begin|100|people|end");  // no line of it follows
  CHECK(tokens("begin 644 f M!!! M@#$ then") == "then");
  CHECK(tokens("to begin with 7 of them") == "to|begin|with|7|of|them");
  CHECK(tokens("x MAX>'AX>'AX>'AX>'AX>'AX>'AX>'AX>'AX>' y") == "x|y");
  CHECK(tokens("x ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ y") ==
        "x|abcdefghijklmnopqrstuvwxyzabcdefghij|y");
  CHECK(tokens("\xc3\x89t\xc3\xa9 \xce\x91\xce\xb2 \xe2\x80\x9cquoted\xe2\x80\x9d \xe2\x82\xac"
               "5 \xe6\x97\xa5\xe6\x9c\xac") ==
        "\xc3\xa9t\xc3\xa9|\xce\xb1\xce\xb2|quoted|5|\xe6\x97\xa5\xe6\x9c\xac");
  CHECK(tokens("begin 644").find("begin") == 0);
  CHECK(tokens("part 1").find("part") == 0);
}

TEST_CASE("no cleaning takes words as they stand", "[text_clean]") {
  CHECK(cleaned("none", " A,b\t\tC!\r\n") == "A,b|C!");
  CHECK_THROWS_AS(TextCleaner("tidy"), std::logic_error);
}

TEST_CASE("there are 179 stop words, in order", "[text_clean]") {
  CHECK(stop_words().size() == 179);
  CHECK(std::is_sorted(stop_words().begin(), stop_words().end()));
  for (const std::string_view word : {"i", "wouldn't", "the", "a", "yourselves", "ma"}) {
    CHECK(is_stop_word(word));
  }
  for (const std::string_view word : {"", "z", "aa", "'s", "would", "The"}) {
    CHECK_FALSE(is_stop_word(word));
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced and counted", "[text_clean]") {
  std::string repaired = "as it was";
  for (const std::string good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "twelve bytes"}) {
    CHECK(file::repair_utf8(good, repaired) == 0);
  }
  CHECK(repaired == "as it was");
  const std::string mark = "\xef\xbf\xbd";
  const auto repair = [&](const std::string& text) {
    repaired.clear();
    const int64_t faults = file::repair_utf8(text, repaired);
    return std::to_string(faults) + " " + repaired;
  };
  CHECK(repair("caf\xe9 ok") == "1 caf" + mark + " ok");
  CHECK(repair("\xc3\xa9\xff") == "1 \xc3\xa9" + mark);
  CHECK(repair("\xc0\xaf") == "2 " + mark + mark);             // overlong
  CHECK(repair("\xed\xa0\x80") == "3 " + mark + mark + mark);  // a surrogate
  CHECK(repair("\xf4\x90\x80\x80") == "4 " + mark + mark + mark + mark);
  CHECK(repair("end\xe2\x82") == "2 end" + mark + mark);
  std::string text;
  for (const char32_t c : {U'a', U'\u00e9', U'\u20ac', U'\U0001F600'})
    file::append_code_point(c, text);
  CHECK(text == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST_CASE("small letters of alphabets that have two", "[text_clean]") {
  for (const auto& [large, small] :
       std::vector<std::pair<char32_t, char32_t>>{{U'A', U'a'},
                                                  {U'\u00C9', U'\u00E9'},
                                                  {U'\u0160', U'\u0161'},
                                                  {U'\u0141', U'\u0142'},
                                                  {U'\u0178', U'\u00FF'},
                                                  {U'\u0394', U'\u03B4'},
                                                  {U'\u0416', U'\u0436'},
                                                  {U'\u0401', U'\u0451'},
                                                  {U'\u017D', U'\u017E'}}) {
    CHECK(file::lower_case(large) == small);
    CHECK(file::lower_case(small) == small);
  }
  CHECK(file::lower_case(U'\u00D7') == U'\u00D7');
  CHECK(file::is_word_character(U'\u00D7') == false);
  CHECK(file::is_word_character(U'_'));
}

}  // namespace kdgat::texts
