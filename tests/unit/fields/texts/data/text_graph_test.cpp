#include "fields/texts/data/text_graph.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kdgat/error.h"
#include "support/can/log_text.h"
#include "support/fields/texts/text_reference.h"
#include "support/programs/soak.h"

namespace kdgat::texts {
namespace {

struct Rows {
  std::vector<int32_t> row_ptr, col;
  std::vector<float> value;

  bool operator==(const Rows&) const = default;
};

/// All rows, made in portions of `portion` rows.
Rows rows_of(const TextGraphBuilder& graph, int64_t portion) {
  Rows out;
  out.row_ptr.assign(graph.row_ptr().begin(), graph.row_ptr().end());
  out.col.resize(static_cast<std::size_t>(graph.counts().nonzeros));
  out.value.resize(out.col.size());
  for (int64_t begin = 0; begin < graph.nodes(); begin += portion) {
    const int32_t start = out.row_ptr[static_cast<std::size_t>(begin)];
    graph.fill(begin, std::min(graph.nodes(), begin + portion), out.col.data() + start,
               out.value.data() + start);
  }
  return out;
}

/// The dense matrix that `rows` are, 0 elsewhere; checks their order.
std::vector<std::vector<double>> dense(const Rows& rows) {
  const std::size_t nodes = rows.row_ptr.size() - 1;
  std::vector<std::vector<double>> out(nodes, std::vector<double>(nodes, 0));
  for (std::size_t n = 0; n < nodes; ++n) {
    int32_t last = -1;
    for (int32_t e = rows.row_ptr[n]; e < rows.row_ptr[n + 1]; ++e) {
      const int32_t column = rows.col[static_cast<std::size_t>(e)];
      REQUIRE(column > last);
      REQUIRE(column < static_cast<int32_t>(nodes));
      last = column;
      out[n][static_cast<std::size_t>(column)] = rows.value[static_cast<std::size_t>(e)];
      REQUIRE(out[n][static_cast<std::size_t>(column)] > 0);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the graph of texts is that of its definition, for random corpora", "[text_graph]") {
  arrays::Random random(7);
  for (int round = 0; round < test::soak(60); ++round) {
    const auto documents = static_cast<int64_t>(1 + random.below(12));
    const auto words = static_cast<int64_t>(1 + random.below(70));
    const auto window = static_cast<int64_t>(2 + random.below(12));
    test::SmallCorpus corpus = test::random_corpus(documents, words, 40, random);
    const auto first = static_cast<int64_t>(random.below(static_cast<uint64_t>(documents) + 1));
    INFO("round " << round << ": " << documents << " documents, " << words << " words, window "
                  << window << ", " << first << " documents first");
    const test::DenseTextGraph wanted = test::reference_text_graph(corpus, first, window);
    const TextGraphBuilder graph(corpus.tokens(first, window), 1);
    CHECK(graph.counts().windows == wanted.windows);
    CHECK(graph.counts().pairs == wanted.pairs);
    const Rows rows = rows_of(graph, graph.nodes());
    const auto got = dense(rows);
    int64_t nonzeros = 0;
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (std::size_t j = 0; j < got.size(); ++j) {
        nonzeros += wanted.s[i][j] != 0;
        worst = std::max(worst, std::abs(got[i][j] - wanted.s[i][j]));
        REQUIRE(got[i][j] == got[j][i]);
      }
    }
    CHECK(nonzeros == graph.counts().nonzeros);
    CHECK(worst < 1e-6);
    // The same bytes for any number of threads and any portions.
    for (const int threads : {1, 2, 5}) {
      const TextGraphBuilder other(corpus.tokens(first, window), threads);
      for (const int64_t portion : {int64_t{1}, int64_t{7}, other.nodes()}) {
        REQUIRE(rows_of(other, portion) == rows);
      }
    }
  }
}

TEST_CASE("counts and sums of a small corpus", "[text_graph]") {
  // Windows of 2: ab bc, ab. Word b is in every document.
  test::SmallCorpus corpus{{{0, 1, 2}, {0, 1}}, 3, {}, {}};
  const TextGraphBuilder graph(corpus.tokens(2, 2), 1);
  const TextGraphCounts& counts = graph.counts();
  CHECK(counts.windows == 3);
  CHECK(counts.pairs == 2);
  // PMI(a,b) = ln(2*3 / (2*3)) = 0 is no edge, PMI(b,c) = ln(1*3 / (3*1)) neither.
  CHECK(counts.pmi_edges == 0);
  // a and b are in both documents, so only c has a TF-IDF, ln 2.
  CHECK(counts.tfidf_edges == 2);
  CHECK(counts.nonzeros == 5 + 2);
  CHECK(counts.tfidf_mean == Approx(std::log(2.0)));
  const Rows rows = rows_of(graph, 5);
  CHECK(rows.row_ptr == std::vector<int32_t>{0, 2, 3, 4, 5, 7});
  CHECK(rows.col == std::vector<int32_t>{0, 4, 1, 2, 3, 0, 4});
  const double degree = 1 + std::log(2.0);
  CHECK(rows.value[0] == Approx(1 / degree));
  CHECK(rows.value[1] == Approx(std::log(2.0) / degree));
  CHECK(rows.value[2] == 1);
}

TEST_CASE("a pair counts in each window that holds both, with each of its places", "[text_graph]") {
  // One window of 4: a b a c. a-b twice, a-c twice, b-c once; #W = 1, so PMI = ln of these.
  test::SmallCorpus corpus{{{0, 1, 0, 2}}, 3, {}, {}};
  const TextGraphBuilder graph(corpus.tokens(1, 4), 1);
  CHECK(graph.counts().pmi_edges == 4);
  CHECK(graph.counts().pmi_mean == Approx(std::log(2.0)));
  CHECK(graph.counts().tfidf_edges == 0);
}

TEST_CASE("sizes that 32 bits do not count are refused before memory is taken", "[text_graph]") {
  require_index_sizes(2147483647, 2147483647, 2147483647);
  const auto message = [](int64_t tokens, int64_t nodes, int64_t nonzeros) {
    return test::data_error([&] { require_index_sizes(tokens, nodes, nonzeros); });
  };
  CHECK_THAT(message(2147483648, 1, 1), Catch::Contains("2147483648 words of all documents"));
  CHECK_THAT(message(1, 2147483648, 1), Catch::Contains("nodes are more than 32 bits count"));
  CHECK_THAT(message(1, 1, 4000000000), Catch::Contains("4000000000 nonzeros of the graph") &&
                                            Catch::Contains("remove_rare_words"));
  // As many nodes as a builder would take 2^31 rows for, from an empty corpus.
  const std::vector<int32_t> no_documents{0};
  const TextTokens tokens{{}, no_documents, int64_t{1} << 31, 0, 20};
  CHECK_THAT(test::data_error([&] { TextGraphBuilder(tokens, 1); }), Catch::Contains("nodes"));
}

TEST_CASE("a graph that is being made can be cancelled", "[text_graph]") {
  arrays::Random random(3);
  test::SmallCorpus corpus = test::random_corpus(40, 50, 30, random);
  CHECK_THAT(test::error_of([&] { TextGraphBuilder(corpus.tokens(40, 5), 3, [] { return true; }); },
                            ExitCode::kInterrupted),
             Catch::Contains("interrupted"));
}

}  // namespace kdgat::texts
