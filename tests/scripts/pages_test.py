"""Of README.md and docs/: every link leads to something, and every page is in the navigation of the site."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}  # by scripts/site/hooks.py
FENCE = re.compile(r"^```.*?^```", re.S | re.M)
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(path):
    """As code hosts and the site name headings: lower case, blanks as -, all else but letters, digits, _ and - gone."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).strip().replace(" ", "-")
            for heading in re.findall(r"^#+ +(.*)$", text, re.M)}


class Pages(unittest.TestCase):
    def test_links_lead_to_files_and_headings(self):
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
            for path, anchor in LINK.findall(text):
                with self.subTest(page=page.relative_to(ROOT).as_posix(), link=f"{path}#{anchor}"):
                    target = page.parent / path if path else page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_every_page_is_in_the_navigation_once(self):
        config = (ROOT / "scripts/site/mkdocs.yml").read_text(encoding="utf-8")
        listed = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", config[config.index("\nnav:"):], re.M)
        self.assertEqual(len(listed), len(set(listed)))
        pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
        self.assertEqual(set(listed) - set(MADE), pages)
        for source in MADE.values():
            self.assertTrue((ROOT / source).exists())


if __name__ == "__main__":
    unittest.main()
