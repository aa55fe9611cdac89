// RatingStore: ratings, their graph and features in one memory-mapped file, shared by all models of
// a process. Owns the mapping. Knows nothing about models.
//
// U users, I items, N = U + I nodes (users first), R ratings, T of them to train on.
//
//   user, item [R] i32, rating [R] f32   user in [0, U), item in [0, I)
//   time [R] i64                         of no rows where times are unknown
//   train [T] i32, test [R-T] i32        numbers of ratings, in the order of the split
//   x [N, F] f32                         features; F may be 0
//   row_ptr [N+1] i32, col [2T] i32      the train graph, both directions: see make_rating_graph()
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/store_file.h"
#include "fields/ratings/data/ratings.h"

namespace kdgat::ratings {

/// facts(): {"graphs":1,"unlabelled":0,"ratings":{"users","items","nodes","ratings","train","test",
///  "edges","features","user_features":[names],"item_features":[names],"min","max","mean","density",
///  "timed","train_users","train_items","least_of_user": of the train ratings},
///  "parts":{"train","test"}}; edges are directed
class RatingStore : public graph::StoreFile {
 public:
  static constexpr graph::StoreKind kKind = {"kdgat.ratings", 1, "graph of ratings",
                                             "kdgat data import RATINGS -o DIR makes one"};
  /// Checks header, shapes, facts, hashes as `check` says, and that users, items, parts, rows and
  /// columns are in range. Copies share the mapping. Throws Error(kData).
  static RatingStore open(const std::filesystem::path& path,
                          graph::Check check = graph::Check::kOnce) {
    return {path, check};
  }
  /// As open(), but a file is opened once in this process: all models see one graph, at one
  /// address. Kept until forget_shared().
  static RatingStore shared(const std::filesystem::path& path);
  static void forget_shared();  ///< copies that are in use keep their mapping
  /// Whether the file says that it is one.
  static bool is_store(const file::SafetensorsFile& file) {
    return graph::StoreFile::is_store(file, kKind);
  }

  int64_t users() const { return static_cast<int64_t>(user_names_.size()); }
  int64_t items() const { return static_cast<int64_t>(item_names_.size()); }
  int64_t nodes() const { return users() + items(); }
  int64_t ratings() const { return static_cast<int64_t>(rating_.size()); }
  int64_t edges() const { return static_cast<int64_t>(col_.size()); }  ///< directed
  int64_t features() const { return features_; }

  std::span<const int32_t> user() const { return user_; }
  std::span<const int32_t> item() const { return item_; }
  std::span<const float> rating() const { return rating_; }
  std::span<const int64_t> time() const { return time_; }  ///< empty = unknown
  std::span<const int32_t> train() const { return train_; }
  std::span<const int32_t> test() const { return test_; }
  std::span<const float> x() const { return x_; }
  std::span<const int32_t> row_ptr() const { return row_ptr_; }
  std::span<const int32_t> col() const { return col_; }

  const std::vector<std::string>& user_names() const { return user_names_; }
  const std::vector<std::string>& item_names() const { return item_names_; }

  /// Data hashes, numbers in range, every rating in one part, the graph that of the train ratings;
  /// empty when sound.
  std::vector<Diagnostic> verify() const;

 private:
  RatingStore(const std::filesystem::path& path, graph::Check check);
  void check_facts() const;
  void check_ranges() const;

  int64_t features_ = 0;
  std::span<const int32_t> user_, item_, train_, test_, row_ptr_, col_;
  std::span<const float> rating_, x_;
  std::span<const int64_t> time_;
  std::vector<std::string> user_names_, item_names_;
};

/// Writes atomically, with hashes and facts. Throws Error(kData), also for sizes that int32 does
/// not hold.
void write_rating_store(const std::filesystem::path& path, const Ratings& ratings,
                        const RatingParts& parts, const std::vector<graph::Source>& sources,
                        const nlohmann::json& options);

}  // namespace kdgat::ratings
