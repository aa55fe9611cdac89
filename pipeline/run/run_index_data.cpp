#include "pipeline/run/run_index_data.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// To be raised whenever something else is read of a run, or kept of it in the same tables.
constexpr int kIndexForm = 4;
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
  std::apply([&](const auto&... key) { (add(key), ...); }, std::remove_const_t<Of>::keys());
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
  ColumnNames out{"place, stamp", "?, ?"};
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

std::string tables() {
  return "CREATE TABLE runs (" + columns_of_runs().names +
         ", PRIMARY KEY (place)) WITHOUT ROWID;"
         "CREATE TABLE steps (" +
         columns_of_steps().names +
         ", PRIMARY KEY (of_run, at)) WITHOUT ROWID;"
         "CREATE TABLE folders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, stamp "
         "TEXT);"
         "CREATE TABLE texts (id INTEGER PRIMARY KEY, role INTEGER, text TEXT, UNIQUE (role, "
         "text));"
         // One after another what a list asks for at once.
         "CREATE TABLE cells (key INTEGER, folder INTEGER, text, value REAL,"
         " PRIMARY KEY (key, folder)) WITHOUT ROWID;";
}

/// A number that other tables, or another form, do not have.
int64_t form() {
  constexpr int kDigits = 7;  // SQLite keeps 31 bits
  return std::stoll(hash_text(tables() + std::to_string(kIndexForm)).substr(0, kDigits), nullptr,
                    16);
}

/// What no row of these columns names.
std::string unused_texts() {
  std::string out = "DELETE FROM texts WHERE role = " + std::to_string(kShared) +
                    " AND id NOT IN (SELECT text FROM cells WHERE value IS NOT NULL";
  for (const std::string& column : columns_of_runs().shared) {
    out += " UNION SELECT ifnull(" + column + ", 0) FROM runs";
  }
  for (const std::string& column : columns_of_steps().shared) {
    out += " UNION SELECT ifnull(" + column + ", 0) FROM steps";
  }
  return out + ")";
}

std::string insert(const char* table, const ColumnNames& columns) {
  return std::string("INSERT INTO ") + table + " (" + columns.names + ") VALUES (" + columns.marks +
         ")";
}

/// The bytes of the tables, if the hash behind them is theirs.
std::string_view checked(std::string_view bytes) {
  if (bytes.size() < kHashLength) throw std::runtime_error("no index");
  const std::string_view tables = bytes.substr(0, bytes.size() - kHashLength);
  if (hash_text(tables) != bytes.substr(tables.size())) throw std::runtime_error("no index");
  return tables;
}

}  // namespace

IndexData::IndexData() {
  data_.run("PRAGMA journal_mode = OFF; BEGIN");
  data_.run((tables() + "PRAGMA user_version = " + std::to_string(form())).c_str());
}

IndexData::IndexData(std::string_view bytes) : data_(checked(bytes)) {
  Statement version = data_.prepare("PRAGMA user_version");
  if (!version.next() || version.integer(0) != form())
    throw std::runtime_error("of another version");
  version.run();
  data_.run("PRAGMA journal_mode = OFF; BEGIN");
}

std::map<std::string, KnownRun> IndexData::runs() const {
  std::map<std::string, KnownRun> out;
  const std::vector<std::string> texts = shared_texts();
  Statement runs = data_.prepare("SELECT " + columns_of_runs().names + " FROM runs ORDER BY place");
  while (runs.next()) {
    KnownRun& known = out.emplace_hint(out.end(), runs.text(0), KnownRun())->second;
    known.stamp = runs.text(1);
    RowReader row{runs, 2, texts};
    columns(row, known.record);
  }
  Statement steps =
      data_.prepare("SELECT " + columns_of_steps().names + " FROM steps ORDER BY of_run, at");
  for (auto run = out.begin(); steps.next();) {
    const std::string of = steps.text(0);
    while (run != out.end() && run->first < of) ++run;
    if (run == out.end() || run->first != of) continue;
    RowReader row{steps, 2, texts};
    columns(row, run->second.record.steps.emplace_back());
  }
  return out;
}

void IndexData::put_run(const std::string& place, const std::string& stamp, const RunRecord& run) {
  const auto shared = [&](const std::string& text) { return text_id(kShared, text); };
  Statement to = data_.prepare(insert("runs", columns_of_runs()));
  to.bind(1, place);
  to.bind(2, stamp);
  RowWriter row{to, 3, shared};
  columns(row, run);
  to.run();
  Statement steps = data_.prepare(insert("steps", columns_of_steps()));
  for (std::size_t at = 0; at < run.steps.size(); ++at) {
    steps.bind(1, place);
    steps.bind(2, static_cast<int64_t>(at));
    RowWriter of_step{steps, 3, shared};
    columns(of_step, run.steps[at]);
    steps.run();
  }
}

void IndexData::remove_run(const std::string& place) {
  for (const char* command :
       {"DELETE FROM runs WHERE place = ?", "DELETE FROM steps WHERE of_run = ?",
        // "0" is the letter behind "/".
        "DELETE FROM folders WHERE name = ?1 OR (name > ?1 || '/' AND name "
        "< ?1 || '0')"}) {
    Statement remove = data_.prepare(command);
    remove.bind(1, place);
    remove.run();
  }
  has_garbage_ = true;
}

/// By their numbers.
std::vector<std::string> IndexData::shared_texts() const {
  std::vector<std::string> out;
  Statement texts = data_.prepare("SELECT id, text FROM texts WHERE role = ?");
  texts.bind(1, kShared);
  while (texts.next()) {
    const auto id = static_cast<std::size_t>(texts.integer(0));
    if (id >= out.size()) out.resize(id + 1);
    out[id] = texts.text(1);
  }
  return out;
}

std::unordered_map<std::string, KnownFolder> IndexData::folders() const {
  std::unordered_map<std::string, KnownFolder> out;
  Statement folders = data_.prepare("SELECT name, stamp, id FROM folders");
  while (folders.next()) out[folders.text(0)] = {folders.text(1), folders.integer(2)};
  return out;
}

int64_t IndexData::put_folder(const std::string& folder, const ReadFolder& read) {
  Statement remove = data_.prepare("DELETE FROM folders WHERE name = ? RETURNING id");
  remove.bind(1, folder);
  while (remove.next()) has_garbage_ = true;
  Statement to = data_.prepare("INSERT INTO folders (name, stamp) VALUES (?, ?) RETURNING id");
  to.bind(1, folder);
  to.bind(2, read.stamp);
  to.next();
  const int64_t id = to.integer(0);
  to.run();
  Statement cell = data_.prepare("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)");
  for (const ReadCell& option : read.options) {
    cell.bind(1, text_id(role_of(KeyOf::kOption), option.key));
    cell.bind(2, id);
    cell.bind(3, option.text);
    cell.bind_null(4);
    cell.run();
  }
  for (const ReadCell& figure : read.figures) {
    cell.bind(1, text_id(role_of(KeyOf::kFigure), figure.key));
    cell.bind(2, id);
    cell.bind(3, text_id(kShared, figure.text));
    cell.bind(4, figure.value);
    cell.run();
  }
  return id;
}

int64_t IndexData::text_id(int64_t role, const std::string& text) {
  auto [known, is_new] = text_ids_.try_emplace({role, text}, 0);
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

std::set<std::string> IndexData::keys(KeyOf of) const {
  std::set<std::string> out;
  Statement keys = data_.prepare("SELECT text FROM texts WHERE role = ?");
  keys.bind(1, role_of(of));
  while (keys.next()) out.insert(keys.text(0));
  return out;
}

std::vector<KnownCell> IndexData::cells(KeyOf of, const std::string& key) const {
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

std::string IndexData::bytes() {
  if (std::exchange(has_garbage_, false)) {
    data_.run(
        // Of runs elsewhere whose steps none keeps any more.
        "DELETE FROM folders WHERE name LIKE '/%' AND name NOT IN (SELECT folder FROM steps); "
        "DELETE FROM cells WHERE folder NOT IN (SELECT id FROM folders); "
        "DELETE FROM texts WHERE role > 0"
        " AND NOT EXISTS (SELECT 1 FROM cells WHERE key = texts.id)");
    data_.run(unused_texts().c_str());
    text_ids_.clear();
  }
  data_.run("COMMIT");
  std::string out = data_.bytes();
  data_.run("BEGIN");
  return out + hash_text(out);
}

}  // namespace kdgat
