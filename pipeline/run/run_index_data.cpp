#include "pipeline/run/run_index_data.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kdgat/small_file.h"
#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// To be raised whenever something else is read of a run, or kept of it in the same tables.
constexpr int kIndexForm = 5;
constexpr std::size_t kHashLength = 32;
constexpr int64_t kShared = 0;  ///< the role of a text that is no key

int64_t role_of(KeyOf of) { return of == KeyOf::kOption ? 1 : 2; }

// The columns of a table, for what makes, writes and reads its rows. `Of` is const where they are
// written. A text that many rows share is a number in `texts`, one that is a row's own is there.

template <class T>
constexpr bool kIsKept =
    std::is_arithmetic_v<T> || record::IsText<T> || std::is_same_v<T, std::vector<std::string>>;
template <class T>
constexpr bool kIsKept<std::optional<T>> = kIsKept<T>;

/// Texts, numbers and lists of texts of a record; not what stands in it as JSON, or as records.
template <class Row, class Of>
void columns(Row& row, Of& record) {
  const auto add = [&](const auto& key) {
    auto& member = record.*(key.member);
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (record::IsText<T>) {
      if (key.is_own) return row.own(key.name, member);
    }
    if constexpr (kIsKept<T> && !std::is_same_v<T, std::filesystem::path>) row(key.name, member);
  };
  static const auto keys = std::remove_const_t<Of>::keys();  // for the rows of thousands of runs
  std::apply([&](const auto&... key) { (add(key), ...); }, keys);
}

struct ColumnNames {
  std::string names, marks;
  std::vector<std::string> shared{};  ///< those that are numbers of texts
  template <class T>
  void operator()(const char* name, const T& /*of the type*/) {
    constexpr bool is_text = std::is_same_v<T, std::string> ||
                             std::is_same_v<T, std::optional<std::string>> ||
                             std::is_same_v<T, std::vector<std::string>>;
    if (is_text) shared.emplace_back(name);
    own(name, 0);
  }
  template <class T>
  void own(const char* name, const T& /*of the type*/) {
    names += std::string(", ") + name;
    marks += ", ?";
  }
};

struct RowWriter {
  Statement& to;
  int mark;
  std::function<int64_t(const std::string&)> shared;

  template <class T>
  void operator()(const char* /*name*/, const T& value) {
    write(value);
    ++mark;
  }
  template <class T>
  void own(const char* /*name*/, const T& value) {
    to.bind(mark++, std::filesystem::path(value).native());
  }
  void write(const std::string& value) { write(shared(value)); }
  void write(const std::vector<std::string>& value) {
    write(json(value).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  void write(double value) { to.bind(mark, value); }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  void write(T value) {
    to.bind(mark, static_cast<int64_t>(value));
  }
  template <class T>
  void write(const std::optional<T>& value) {
    value ? write(*value) : to.bind_null(mark);
  }
};

struct RowReader {
  const Statement& from;
  int column;
  const std::vector<std::string>& texts;

  template <class T>
  void operator()(const char* /*name*/, T& value) {
    read(value);
    ++column;
  }
  template <class T>
  void own(const char* /*name*/, T& value) {
    value = from.text(column++);
  }
  void read(std::string& value) {
    value = texts.at(static_cast<std::size_t>(from.integer(column)));
  }
  void read(std::vector<std::string>& value) {
    std::string text;
    read(text);
    if (text != "[]") json::parse(text).get_to(value);
  }
  void read(double& value) { value = from.number(column); }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  void read(T& value) {
    value = static_cast<T>(from.integer(column));
  }
  template <class T>
  void read(std::optional<T>& value) {
    if (!from.is_null(column)) read(value.emplace());
  }
};

ColumnNames columns_of_runs() {
  ColumnNames out{"number, place, stamp", "?, ?, ?"};
  const RunRecord like;
  columns(out, like);
  return out;
}

ColumnNames columns_of_steps() {
  ColumnNames out{"of_run, at", "?, ?"};
  const StepRecord like;
  columns(out, like);
  return out;
}

constexpr const char* kTexts =
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, role INTEGER, text TEXT, UNIQUE (role, text));";

std::string tables_of_runs() {
  return kTexts + ("CREATE TABLE runs (" + columns_of_runs().names) +
         ", PRIMARY KEY (number)) WITHOUT ROWID;"
         "CREATE TABLE steps (" +
         columns_of_steps().names + ", PRIMARY KEY (of_run, at)) WITHOUT ROWID;";
}

constexpr const char* kTablesOfValues =
    "CREATE TABLE folders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, stamp TEXT);"
    // One after another what a list asks for at once.
    "CREATE TABLE cells (key INTEGER, folder INTEGER, text, value REAL,"
    " PRIMARY KEY (key, folder)) WITHOUT ROWID;";

/// A number that other tables, or another form, do not have.
int64_t form_of(const std::string& tables) {
  constexpr int kDigits = 7;  // SQLite keeps 31 bits
  return std::stoll(hash_text(tables + std::to_string(kIndexForm)).substr(0, kDigits), nullptr, 16);
}

std::string insert(const char* table, const ColumnNames& columns) {
  return std::string("INSERT INTO ") + table + " (" + columns.names + ") VALUES (" + columns.marks +
         ")";
}

}  // namespace

IndexTables::IndexTables(const std::filesystem::path& file, const std::string& tables) {
  const int64_t form = form_of(tables);
  const bool is_read = read(file, form);
  data_.run("PRAGMA journal_mode = OFF; BEGIN");
  if (!is_read) data_.run((tables + "PRAGMA user_version = " + std::to_string(form)).c_str());
}

/// Whether the file has tables of the form, and the hash of them behind them.
bool IndexTables::read(const std::filesystem::path& file, int64_t form) {
  try {
    std::optional<TableBytes> bytes = TableBytes::of_file(file, kLargestIndex);
    if (!bytes || bytes->view().size() < kHashLength) return false;
    const std::string_view tables = bytes->view().substr(0, bytes->view().size() - kHashLength);
    if (hash_text(tables) != bytes->view().substr(tables.size())) return false;
    Database data(std::move(*bytes), tables.size());
    Statement version = data.prepare("PRAGMA user_version");
    if (!version.next() || version.integer(0) != form) return false;
    version.run();
    data_ = std::move(data);
    return true;
  } catch (const std::exception&) {
    return false;  // no memory for it
  }
}

std::string IndexTables::bytes() {
  if (std::exchange(has_garbage_, false)) {
    remove_garbage();
    text_ids_.clear();
  }
  data_.run("COMMIT; BEGIN");
  std::string out = data_.bytes();
  out += hash_text(out);
  if (out.size() > kLargestIndex) throw std::runtime_error("larger than what is read");
  return out;
}

int64_t IndexTables::text_id(int64_t role, const std::string& text) {
  auto [known, is_new] = text_ids_.try_emplace(std::to_string(role) + text, 0);
  if (!is_new) return known->second;
  Statement add = data_.prepare("INSERT OR IGNORE INTO texts (role, text) VALUES (?, ?)");
  Statement find = data_.prepare("SELECT id FROM texts WHERE role = ? AND text = ?");
  for (Statement* one : {&add, &find}) {
    one->bind(1, role);
    one->bind(2, text);
  }
  add.run();
  find.next();
  return known->second = find.integer(0);
}

RunTables::RunTables(const std::filesystem::path& file) : IndexTables(file, tables_of_runs()) {}

std::unordered_map<std::string, KnownRun> RunTables::runs() const {
  std::unordered_map<std::string, KnownRun> out;
  std::vector<KnownRun*> in_order;
  const std::vector<std::string> texts = shared_texts();
  Statement runs =
      data_.prepare("SELECT " + columns_of_runs().names + " FROM runs ORDER BY number");
  while (runs.next()) {
    KnownRun& known = *in_order.emplace_back(&out[runs.text(1)]);
    known.id = runs.integer(0);
    known.stamp = runs.text(2);
    RowReader row{runs, 3, texts};
    columns(row, known.record);
  }
  Statement steps =
      data_.prepare("SELECT " + columns_of_steps().names + " FROM steps ORDER BY of_run, at");
  for (auto run = in_order.begin(); steps.next();) {
    const int64_t of = steps.integer(0);
    while (run != in_order.end() && (*run)->id < of) ++run;
    if (run == in_order.end() || (*run)->id != of) continue;
    RowReader row{steps, 2, texts};
    columns(row, (*run)->record.steps.emplace_back());
  }
  return out;
}

void RunTables::put(const std::string& place, const std::string& stamp, const RunRecord& run) {
  const auto shared = [&](const std::string& text) { return text_id(kShared, text); };
  Statement last = data_.prepare("SELECT ifnull(max(number), 0) FROM runs");
  last.next();
  const int64_t id = last.integer(0) + 1;
  Statement to = data_.prepare(insert("runs", columns_of_runs()));
  to.bind(1, id);
  to.bind(2, place);
  to.bind(3, stamp);
  RowWriter row{to, 4, shared};
  columns(row, run);
  to.run();
  Statement steps = data_.prepare(insert("steps", columns_of_steps()));
  for (std::size_t at = 0; at < run.steps.size(); ++at) {
    steps.bind(1, id);
    steps.bind(2, static_cast<int64_t>(at));
    RowWriter of_step{steps, 3, shared};
    columns(of_step, run.steps[at]);
    steps.run();
  }
}

void RunTables::remove(int64_t id) {
  for (const char* command :
       {"DELETE FROM runs WHERE number = ?", "DELETE FROM steps WHERE of_run = ?"}) {
    Statement remove = data_.prepare(command);
    remove.bind(1, id);
    remove.run();
  }
  has_garbage_ = true;
}

/// Texts that no row names.
void RunTables::remove_garbage() {
  std::string unused = "DELETE FROM texts WHERE id NOT IN (SELECT 0";
  for (const std::string& column : columns_of_runs().shared) {
    unused += " UNION SELECT ifnull(" + column + ", 0) FROM runs";
  }
  for (const std::string& column : columns_of_steps().shared) {
    unused += " UNION SELECT ifnull(" + column + ", 0) FROM steps";
  }
  data_.run((unused + ")").c_str());
}

/// By their numbers.
std::vector<std::string> RunTables::shared_texts() const {
  std::vector<std::string> out;
  Statement texts = data_.prepare("SELECT id, text FROM texts");
  while (texts.next()) {
    const auto id = static_cast<std::size_t>(texts.integer(0));
    if (id >= out.size()) out.resize(id + 1);
    out[id] = texts.text(1);
  }
  return out;
}

ValueTables::ValueTables(const std::filesystem::path& file)
    : IndexTables(file, std::string(kTexts) + kTablesOfValues) {}

std::unordered_map<std::string, KnownFolder> ValueTables::folders() const {
  std::unordered_map<std::string, KnownFolder> out;
  Statement folders = data_.prepare("SELECT name, stamp, id FROM folders");
  while (folders.next()) out[folders.text(0)] = {folders.text(1), folders.integer(2)};
  return out;
}

std::vector<int64_t> ValueTables::put(const std::vector<ReadFolder>& folders) {
  struct Cell {
    int64_t key, folder;
    const std::string* option;  ///< its value; of a figure the rest
    int64_t kind;
    double value;
  };
  std::vector<int64_t> ids;
  std::vector<Cell> cells;
  Statement to = data_.prepare("INSERT INTO folders (name, stamp) VALUES (?, ?) RETURNING id");
  for (const ReadFolder& folder : folders) {
    remove(folder.name);
    to.bind(1, folder.name);
    to.bind(2, folder.stamp);
    to.next();
    const int64_t id = ids.emplace_back(to.integer(0));
    to.run();
    for (const ReadCell& option : folder.options) {
      cells.push_back({text_id(role_of(KeyOf::kOption), option.key), id, &option.text, 0, 0});
    }
    for (const ReadCell& figure : folder.figures) {
      cells.push_back({text_id(role_of(KeyOf::kFigure), figure.key), id, nullptr,
                       text_id(kShared, figure.text), figure.value});
    }
  }
  // As the rows lie in the table, which it fills from left to right.
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::pair(a.key, a.folder) < std::pair(b.key, b.folder);
  });
  Statement cell = data_.prepare("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)");
  for (const Cell& one : cells) {
    cell.bind(1, one.key);
    cell.bind(2, one.folder);
    if (one.option != nullptr) {
      cell.bind(3, *one.option);
      cell.bind_null(4);
    } else {
      cell.bind(3, one.kind);
      cell.bind(4, one.value);
    }
    cell.run();
  }
  return ids;
}

void ValueTables::remove(const std::string& folder) {
  Statement remove = data_.prepare("DELETE FROM folders WHERE name = ? RETURNING id");
  remove.bind(1, folder);
  while (remove.next()) has_garbage_ = true;
}

void ValueTables::remove_garbage() {
  data_.run(
      "DELETE FROM cells WHERE folder NOT IN (SELECT id FROM folders); "
      "DELETE FROM texts WHERE role > 0 AND NOT EXISTS (SELECT 1 FROM cells WHERE key = texts.id); "
      "DELETE FROM texts WHERE role = 0"
      " AND id NOT IN (SELECT text FROM cells WHERE value IS NOT NULL)");
}

std::set<std::string> ValueTables::keys(KeyOf of) const {
  std::set<std::string> out;
  Statement keys = data_.prepare("SELECT text FROM texts WHERE role = ?");
  keys.bind(1, role_of(of));
  while (keys.next()) out.insert(keys.text(0));
  return out;
}

std::vector<KnownCell> ValueTables::cells(KeyOf of, const std::string& key) const {
  std::vector<KnownCell> out;
  Statement cells = data_.prepare(
      std::string("SELECT folder, value, ") +
      (of == KeyOf::kOption ? "text" : "(SELECT text FROM texts WHERE id = cells.text)") +
      " FROM cells WHERE key = (SELECT id FROM texts WHERE role = ? AND text = ?)");
  cells.bind(1, role_of(of));
  cells.bind(2, key);
  while (cells.next()) out.push_back({cells.integer(0), cells.text(2), cells.number(1)});
  return out;
}

}  // namespace kdgat
