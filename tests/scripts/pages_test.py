"""README.md and docs/: every link leads to something, every page is in the navigation of the site, README.md is short."""
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


README_LINES, README_COLUMNS, FIRST_SCREEN = 120, 100, 40
SETUP_COMMANDS = ["scripts/kdgat run --preset smoke", "scripts/test"]


def readme_problems(text):
    """What makes README.md too long to read: lines, columns, or a first screen without the two commands.

    Rows of tables and lines with a link may be longer, because they cannot be wrapped."""
    lines = text.splitlines()
    problems = [f"{len(lines)} lines, at most {README_LINES}"] if len(lines) > README_LINES else []
    problems += [f"line {number}: {len(line)} columns, at most {README_COLUMNS}" for number, line in enumerate(lines, 1)
                 if len(line) > README_COLUMNS and not line.startswith("|") and not LINK.search(line)]
    shown = [line.removeprefix("$ ").split("#")[0].strip() for line in lines[:FIRST_SCREEN]]
    return problems + [f"no command {command} in the first {FIRST_SCREEN} lines"
                       for command in SETUP_COMMANDS if command not in shown]


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

    def test_the_readme_is_short_and_begins_with_its_two_commands(self):
        self.assertEqual(readme_problems((ROOT / "README.md").read_text(encoding="utf-8")), [])

    def test_a_long_readme_is_found(self):
        good = ["# kdgat", *(f"$ {command}  # 1 min" for command in SETUP_COMMANDS)]
        fill = ["text"] * README_LINES
        self.assertEqual(readme_problems("\n".join((good + fill)[:README_LINES])), [])
        self.assertEqual(readme_problems("\n".join((good + fill)[:README_LINES + 1])), ["121 lines, at most 120"])
        wide = "x" * (README_COLUMNS + 1)
        self.assertEqual(readme_problems("\n".join([*good, "x" * README_COLUMNS, "|" + wide, "[a](b.md)" + wide])), [])
        self.assertEqual(readme_problems("\n".join([*good, wide])), ["line 4: 101 columns, at most 100"])
        self.assertEqual(readme_problems("\n".join([good[0], good[1], *fill[:FIRST_SCREEN - 2], good[2]])),
                         ["no command scripts/test in the first 40 lines"])
        self.assertEqual(len(readme_problems("`scripts/test` and `scripts/kdgat run --preset smoke`")), 2)


if __name__ == "__main__":
    unittest.main()
