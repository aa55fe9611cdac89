#include "pipeline/show/table_format.h"

#include <utility>

#include "kdgat/error.h"
#include "kdgat/text.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr std::pair<const char*, TableFormat> kFormats[] = {{"text", TableFormat::kText},
                                                            {"csv", TableFormat::kCsv},
                                                            {"md", TableFormat::kMarkdown},
                                                            {"latex", TableFormat::kLatex}};

std::string replaced(const std::string& text,
                     const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    bool is_found = false;
    for (const auto& [from, to] : pairs) {
      if (text.compare(at, from.size(), from) != 0) continue;
      out += to;
      at += from.size();
      is_found = true;
      break;
    }
    if (!is_found) out += text[at++];
  }
  return out;
}

std::string latex_text(const std::string& text) {
  return replaced(one_line(text), {{"\\", "\\textbackslash{}"},
                                   {"&", "\\&"},
                                   {"%", "\\%"},
                                   {"$", "\\$"},
                                   {"#", "\\#"},
                                   {"_", "\\_"},
                                   {"{", "\\{"},
                                   {"}", "\\}"},
                                   {"~", "\\textasciitilde{}"},
                                   {"^", "\\textasciicircum{}"},
                                   {"…", "\\ldots{}"},
                                   {"±", "$\\pm$"}});
}

/// Numbers in math mode, so that a minus is one and the space around ± is right.
std::string latex_number(const std::string& text) {
  const bool is_number = text.find_first_of("0123456789") != std::string::npos &&
                         text.find_first_of("abcdfghijklmnopqrstuvwxyz") == std::string::npos;
  if (!is_number) return latex_text(text);
  return "$" + replaced(text, {{"±", "\\pm"}, {",", "{,}"}, {"%", "\\%"}, {"{,} ", ", "}}) + "$";
}

std::string markdown_text(const std::string& text) {
  return replaced(one_line(text), {{"|", "\\|"}, {"*", "\\*"}, {"_", "\\_"}, {"<", "&lt;"}});
}

std::string as_text(const MarkedTable& table) {
  Table out;
  out.add(table.columns);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const MarkedCell& cell : row) cells.push_back(cell.text + (cell.is_best ? " *" : ""));
    out.add(std::move(cells));
  }
  return out.text();
}

std::string as_csv(const MarkedTable& table) {
  std::string out;
  const auto add = [&](const std::string& text, bool is_first) {
    out += (is_first ? "" : ",") + csv_field(text);
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) add(table.columns[i], i == 0);
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) add(row[i].text, i == 0);
    out += "\n";
  }
  return out;
}

std::string as_markdown(const MarkedTable& table) {
  std::string out, rule;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out += "| " + markdown_text(table.columns[i]) + " ";
    rule += i < table.texts ? "|---" : "|--:";
  }
  out += "|\n" + rule + "|\n";
  for (const auto& row : table.rows) {
    for (const MarkedCell& cell : row) {
      const std::string text = markdown_text(cell.text);
      out += "| " + (cell.is_best ? "**" + text + "**" : text) + " ";
    }
    out += "|\n";
  }
  return out;
}

std::string as_latex(const MarkedTable& table) {
  std::string out = "\\begin{tabular}{" + std::string(table.texts, 'l') +
                    std::string(table.columns.size() - table.texts, 'r') + "}\n\\toprule\n";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out += (i == 0 ? "" : " & ") + latex_text(table.columns[i]);
  }
  out += " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text =
          i < table.texts ? latex_text(row[i].text) : latex_number(row[i].text);
      out += (i == 0 ? "" : " & ") + (row[i].is_best ? "\\textbf{\\boldmath " + text + "}" : text);
    }
    out += " \\\\\n";
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::vector<std::string> table_formats() {
  std::vector<std::string> words;
  for (const auto& [word, format] : kFormats) words.emplace_back(word);
  return words;
}

TableFormat table_format(const std::string& word) {
  for (const auto& [name, format] : kFormats) {
    if (word == name) return format;
  }
  throw Error(ExitCode::kUsage, "--format " + word + ": there is no such form",
              "one of " + joined(table_formats(), ", "));
}

std::string formatted(const MarkedTable& table, TableFormat format) {
  if (table.rows.empty()) return "";
  switch (format) {
    case TableFormat::kCsv:
      return as_csv(table);
    case TableFormat::kMarkdown:
      return as_markdown(table);
    case TableFormat::kLatex:
      return as_latex(table);
    case TableFormat::kText:
      break;
  }
  return as_text(table);
}

}  // namespace kdgat
