#include "fields/ratings/data/synth_ratings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::ratings {
namespace {

enum : uint64_t { kUserStream = 301, kItemStream = 302, kOrderStream = 303 };

constexpr int64_t kOccupations = 21, kGenres = 19;
constexpr int64_t kFirstTime = 874'700'000;

int64_t items_of(const data::SynthSize& options, int64_t items) {
  return items > 0 ? items : std::max<int64_t>(4, options.graphs * 16 / 9);
}

/// About standard normal: the sum of twelve uniform numbers is the same on every machine.
double normal(arrays::Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

arrays::Random of(const data::SynthSize& options, uint64_t stream, int64_t number) {
  return arrays::Random(arrays::Random(static_cast<uint64_t>(options.seed), stream).next(),
                        static_cast<uint64_t>(number));
}

/// What an item is worth to anybody.
double quality(const data::SynthSize& options, int64_t item) {
  arrays::Random random = of(options, kItemStream, item);
  return 0.5 * normal(random);
}

}  // namespace

std::vector<SyntheticRating> synthetic_ratings(const data::SynthSize& options, int64_t items) {
  items = items_of(options, items);
  std::vector<SyntheticRating> out;
  for (int64_t user = 0; user < options.graphs; ++user) {
    arrays::Random random = of(options, kUserStream, user);
    const double bias = 0.4 * normal(random);
    const auto wanted = static_cast<std::size_t>(
        std::clamp<int64_t>(options.nodes * (50 + static_cast<int64_t>(random.below(101))) / 100, 2,
                            std::max<int64_t>(2, items / 2)));
    std::set<int64_t> rated;
    while (rated.size() < wanted) {
      const double place = random.uniform();
      const auto item = static_cast<int64_t>(place * place * static_cast<double>(items));
      if (!rated.insert(item).second) continue;
      const bool is_liked = item % options.classes == user % options.classes;
      const double value =
          3.5 + bias + quality(options, item) + (is_liked ? 0.8 : -0.3) + 0.6 * normal(random);
      out.push_back({static_cast<int32_t>(user), static_cast<int32_t>(item),
                     static_cast<int32_t>(std::clamp<int64_t>(std::llround(value), 1, 5))});
    }
  }
  arrays::Random(static_cast<uint64_t>(options.seed), kOrderStream).shuffle(out);
  return out;
}

void write_synthetic_ratings(const std::filesystem::path& folder, const data::SynthSize& options,
                             int64_t items, const std::function<bool()>& cancelled) {
  data::make_folder(folder);
  items = items_of(options, items);
  std::string ratings, of_users, of_items;
  int64_t time = kFirstTime;
  for (const SyntheticRating& r : synthetic_ratings(options, items)) {
    ratings += std::to_string(r.user + 1) + '\t' + std::to_string(r.item + 1) + '\t' +
               std::to_string(r.rating) + '\t' + std::to_string(time += 60) + '\n';
  }
  if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
  for (int64_t user = 0; user < options.graphs; ++user) {
    arrays::Random random = of(options, kUserStream + 16, user);
    const bool is_typical = random.below(4) != 0;
    const int64_t job = is_typical ? user % options.classes % kOccupations
                                   : static_cast<int64_t>(random.below(kOccupations));
    char line[96];
    std::snprintf(line, sizeof line, "%lld|%d|%c|occupation%02lld|00000\n",
                  static_cast<long long>(user) + 1, 18 + static_cast<int>(random.below(50)),
                  random.below(2) == 0 ? 'F' : 'M', static_cast<long long>(job));
    of_users += line;
  }
  for (int64_t item = 0; item < items; ++item) {
    arrays::Random random = of(options, kItemStream + 16, item);
    const int64_t genre = 1 + item % options.classes % (kGenres - 1);
    const int64_t other = 1 + static_cast<int64_t>(random.below(kGenres - 1));
    of_items += std::to_string(item + 1) + "|Item " + std::to_string(item + 1) + "|01-Jan-" +
                std::to_string(1950 + random.below(49)) + "||";
    for (int64_t g = 0; g < kGenres; ++g) of_items += g == genre || g == other ? "|1" : "|0";
    of_items += '\n';
  }
  write_file(folder / "u.data", ratings);
  write_file(folder / "u.user", of_users);
  write_file(folder / "u.item", of_items);
}

}  // namespace kdgat::ratings
