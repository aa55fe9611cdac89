// The columns that a table of CAN frames may have, and the names that tools give them. The one list
// of names; docs/data.md shows it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kdgat::data {

enum class Column {
  kTime,
  kId,
  kPayload,
  kByte,  ///< one byte of the payload
  kDlc,
  kLength,
  kDirection,
  kBus,
  kExtended,
  kRemote,
  kError,
  kFd,
  kBrs,
  kEsi,
  kKind,      ///< words: Data or Remote, Standard or Extend
  kLabel,     ///< 0 and 1, or words of which one means benign
  kSubclass,  ///< the kind of an attack
  kUnused
};

/// The names of one kind of column, in lower case, letters and digits alone.
struct ColumnNames {
  Column column;
  std::vector<std::string_view> names;
};
std::span<const ColumnNames> column_names();

struct TableColumn {
  Column column = Column::kUnused;
  std::string name;           ///< as in the header
  double units_a_second = 0;  ///< kTime: as the name says; 0: it says none
  int number = -1;            ///< kByte: as in the name
  std::size_t rank = 0;       ///< of its name among those of the kind; of several the least is used
  int base = 0;               ///< kId: 10 or 16 if the name says so, else 0
};

/// What a name is compared by: its letters and digits, in lower case; the sign of micro is a u.
std::string column_key(std::string_view name);
/// kUnused of a key that no list has. `rank`: its place in that list.
Column column_named(std::string_view key, std::size_t* rank = nullptr);

/// The character between the columns of a header: comma, semicolon or tab.
char separator_of(std::string_view header);

/// What each column of a header means, in its order.
std::vector<TableColumn> table_columns(std::string_view header, char separator);

/// The label that a word means: 0, 1 of all that no usual word calls benign, the numbers of classes
/// too, -1 where it says none ("", "-", "nan"); nullopt of any other number.
std::optional<int> label_word(std::string_view word);

/// The same of a word that stands behind a row without a header: nullopt unless it is known.
std::optional<int> known_label_word(std::string_view word);

}  // namespace kdgat::data
