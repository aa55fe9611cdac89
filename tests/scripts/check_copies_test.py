"""Of scripts/check_copies: what is a copy, what is not, and what may stay."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

LOOP = """
int longest(const std::vector<int>& widths, int limit) {
  int best = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > limit) continue;
    best = std::max(best, widths[i]);
  }
  return best + 1;
}
"""
RENAMED = """
#include <vector>
// Of rows this time.
int tallest(const std::vector<int>& heights, int most) {
  int top = 0;  // so far

  for (std::size_t row = 0; row < heights.size(); ++row) {
    if (heights[row] > most) continue;
    top = std::max(top, heights[row]);
  }
  return top + 250;
}
"""
OPTIONS = """
struct NAMEOptions {
  int64_t epochs = 3;
  std::string norm = "batch";
  bool bias = false;
  static auto table() {
    using F = NAMEOptions;
    return std::tuple{
        field("epochs", &F::epochs, "How often.").range(1, 10),
        field("norm", &F::norm,
              "Which one.")
            .choices({"batch", "graph"}),
        field("bias", &F::bias,
              "Whether there is one.")
            .runtime()};
  }
  MORE
};
"""
BODY = """
  int count(int first, int last) const {
    int sum = first;
    for (int i = first; i < last; ++i) {
      if (i % 2 == 0) sum += i;
    }
    while (sum > last) sum /= 2;
    return sum;
  }
"""


class Copies(unittest.TestCase):
    def check(self, **files):
        """Exit code and output over a tree of these files; `__` stands for / and `_DOT_` for a point in a name."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name.replace("__", "/").replace("_DOT_", ".")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([str(ROOT / "scripts/check_copies"), folder], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def test_a_copy_with_other_names_and_numbers_is_found(self):
        code, text = self.check(pipeline__a_DOT_cpp=LOOP, stages__x__b_DOT_h=RENAMED)
        self.assertEqual((code, text), (1, "pipeline/a.cpp:2-8 ~ stages/x/b.h:4-11 (6 lines)\n"))

    def test_a_copy_in_scripts_is_found(self):
        python = "\n".join(["def f(a):", "    b = []", "    for c in a:", "        if c:", "            b.append(c)",
                            "    return sorted(b)"])
        code, text = self.check(scripts__one=python, scripts__benches__two_DOT_py=python.replace("c", "d"))
        self.assertEqual((code, text), (1, "scripts/benches/two.py:1-6 ~ scripts/one:1-6 (6 lines)\n"))

    def test_other_names_in_other_places_are_no_copy(self):
        swapped = RENAMED.replace("top = std::max(top, heights[row])", "most = std::max(top, heights[row])")
        self.assertEqual(self.check(pipeline__a_DOT_cpp=LOOP, stages__b_DOT_cpp=swapped)[0], 0)

    def test_another_operator_is_no_copy(self):
        other = RENAMED.replace("> most", "< most")
        self.assertEqual(self.check(pipeline__a_DOT_cpp=LOOP, stages__b_DOT_cpp=other)[0], 0)

    def test_five_lines_are_no_run(self):
        short = RENAMED.replace("  int top = 0;  // so far\n", "")
        self.assertEqual(self.check(pipeline__a_DOT_cpp=LOOP.replace("  int best = 0;\n", ""),
                                    stages__b_DOT_cpp=short)[0], 0)

    def test_the_same_twice_in_one_file_is_no_pair(self):
        self.assertEqual(self.check(pipeline__a_DOT_cpp=LOOP + RENAMED)[0], 0)

    def test_rows_are_data(self):
        rows = "void rows() {\n" + "".join(f'  say("{word}", {len(word)});\n' for word in "a bb ccc dddd e f g h".split()) + "}\n"
        self.assertEqual(self.check(pipeline__a_DOT_cpp=rows, stages__b_DOT_cpp=rows.replace("say", "tell"))[0], 0)

    def test_members_are_declarations_and_what_a_function_among_them_computes_is_code(self):
        one, other = OPTIONS.replace("NAME", "Cat"), OPTIONS.replace("NAME", "Dog")
        self.assertEqual(self.check(stages__a_DOT_h=one.replace("MORE", ""), stages__b_DOT_h=other.replace("MORE", ""))[0], 0)
        code, text = self.check(stages__a_DOT_h=one.replace("MORE", BODY), stages__b_DOT_h=other.replace("MORE", BODY))
        self.assertEqual(code, 1, text)
        self.assertEqual(text.count("~"), 1)
        self.assertIn("(6 lines)", text)

    def test_what_a_function_lists_is_not_a_member(self):
        plain = OPTIONS.replace("static auto table()", "static auto rows()").replace("MORE", "")
        longer = plain.replace("using F", "auto first = start();\n    if (first) return first;\n    using F")
        code, text = self.check(stages__a_DOT_h=longer.replace("NAME", "Cat"), stages__b_DOT_h=longer.replace("NAME", "Dog"))
        self.assertEqual(code, 1, text)

    def test_what_may_stay_is_listed_with_its_reason(self):
        allowed = "# why\npipeline/a.cpp ~ stages/b.cpp: the same idea in two libraries\n"
        self.assertEqual(self.check(pipeline__a_DOT_cpp=LOOP, stages__b_DOT_cpp=RENAMED,
                                    scripts__copies_allowed_DOT_txt=allowed)[0], 0)
        code, text = self.check(pipeline__a_DOT_cpp=LOOP, scripts__copies_allowed_DOT_txt=allowed)
        self.assertEqual(code, 1)
        self.assertIn("scripts/copies_allowed.txt:2: pipeline/a.cpp ~ stages/b.cpp have nothing in common", text)
        code, text = self.check(scripts__copies_allowed_DOT_txt="pipeline/a.cpp ~ stages/b.cpp\n")
        self.assertEqual(code, 1)
        self.assertIn("copies_allowed.txt:1: not of the form", text)


if __name__ == "__main__":
    unittest.main()
