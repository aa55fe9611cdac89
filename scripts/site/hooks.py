"""What the site has that docs/ has not: README.md as its first page, CHANGELOG.md, and its own script and style.

Pages are written for a code host, where links go to files of the tree. Here links of README.md lose `docs/`, and links that
leave docs/ become text, as a site has no sources to show."""
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
ASSETS = ["iframe-worker.js", "site.js", "site.css"]

FENCE = re.compile(r"^```.*?^```[^\n]*$", re.S | re.M)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files, config):
    for uri, source in PAGES.items():
        files.append(File.generated(config, uri, content=(ROOT / source).read_text(encoding="utf-8")))
    for name in ASSETS:
        files.append(File.generated(config, "assets/" + name, abs_src_path=str(HERE / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    source = PAGES.get(page.file.src_uri)
    folder = "." if source else posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def link(match):
        bang, text, path, anchor = match[1], match[2], match[3], match[4] or ""
        if not path:
            return match[0]
        of_tree = posixpath.normpath(posixpath.join(folder, path))
        target = {name: uri for uri, name in PAGES.items()}.get(of_tree)
        if target is None and of_tree.startswith("docs/"):
            target = of_tree[len("docs/"):]
        if target is None:
            if not (ROOT / of_tree).exists():
                raise ValueError(f"{page.file.src_uri}: {path} is not in the tree")
            return text if "`" in text else f"`{text}`"
        file = files.get_file_from_path(target)
        if file and file.page and re.fullmatch(r"[\w/]+\.md", text):  # a name of a file says less than that of its page
            text = file.page.title
        return f"{bang}[{text}]({posixpath.relpath(target, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"

    out, at = [], 0
    for fence in FENCE.finditer(markdown):
        out += [LINK.sub(link, markdown[at:fence.start()]), fence[0].replace("```console-setup", "```console", 1)]
        at = fence.end()
    return "".join(out + [LINK.sub(link, markdown[at:])])
