// TextCleaner: from the text of a document to its words. Knows nothing about vocabularies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kdgat::texts {

/// As the option `cleaning` names them.
///   original  What is not [A-Za-z0-9(),!?'`] is a blank; 's 've n't 're 'd 'll , ! ( ) ? are words
///             of their own; lower case (clean_str of the published text_gcn, after Kim 2014).
///   seed      Lower case; web addresses, "part 1 of 3" and uuencoded files go; what is neither a
///             word character nor white space is a blank.
///   none      Words between white space, as they are.
class TextCleaner {
 public:
  /// Throws std::logic_error for another name.
  explicit TextCleaner(const std::string& cleaning);

  /// The words of `text`, valid UTF-8, in order; valid until the next call.
  const std::vector<std::string_view>& words(std::string_view text);

 private:
  void clean_original(std::string_view text);
  void clean_seed(std::string_view text);

  void (TextCleaner::*clean_)(std::string_view) = nullptr;  // null: none
  std::string buffer_, blanked_;
  std::vector<std::string_view> words_;
};

}  // namespace kdgat::texts
