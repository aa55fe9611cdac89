#include "fields/molecules/objective/pocket_loss.h"

#include "engine/train/metrics/retrieval.h"
#include "support/catch_torch.h"
#include "support/graphs/golden.h"

using namespace kdgat;
using namespace kdgat::molecules;

namespace {

std::vector<float> floats(const torch::Tensor& tensor) {
  const torch::Tensor all = tensor.to(torch::kFloat).contiguous();
  const float* data = all.const_data_ptr<float>();
  return {data, data + all.numel()};
}

}  // namespace

TEST_CASE("losses of pockets equal the golden ones, and so do their gradients",
          "[molecules][golden]") {
  const auto golden = test::fixture("rna3e_losses");
  if (!golden) return;
  const auto tensor = [&](const std::string& name) { return test::exact_of(*golden, name); };
  const torch::Tensor ligand = tensor("ligand"), every = torch::arange(ligand.size(0));
  struct Case {
    const char *golden, *loss;
    torch::Tensor ligand;
  };
  for (const Case& c : {Case{"mse", "mse", ligand}, Case{"cosine", "cosine", ligand},
                        Case{"cosine_mse", "cosine_mse", ligand}, Case{"infonce", "infonce", every},
                        Case{"infonce_masked", "infonce", ligand}}) {
    INFO(c.golden);
    const torch::Tensor predicted = tensor("prediction").requires_grad_();
    PocketLossOptions options;
    options.loss_fn = c.loss;
    const torch::Tensor loss =
        pocket_loss(predicted, {tensor("target"), c.ligand, {}, {}}, options) /
        static_cast<double>(predicted.size(0));
    CHECK(loss.item<double>() ==
          Approx(tensor(std::string("loss.") + c.golden).item<double>()).epsilon(1e-12));
    CHECK(test::relative_error(torch::autograd::grad({loss}, {predicted})[0],
                               tensor(std::string("grad.") + c.golden)) < 1e-12);
  }
}

TEST_CASE(
    "the catalogue's loss is the cross entropy among the trained ligands, and of a new one "
    "among those and itself",
    "[molecules]") {
  torch::manual_seed(3);
  const torch::Tensor all = torch::randn({5, 7}, torch::kDouble);
  const torch::Tensor trained = torch::tensor({3, 0, 4}, torch::kLong);
  const torch::Tensor predicted = torch::randn({2, 7}, torch::kDouble);
  PocketLossOptions options;
  options.loss_fn = "catalogue";
  const torch::Tensor ligand = torch::tensor({4, 1}, torch::kLong);
  const double found = pocket_loss(predicted,
                                   {all.index_select(0, ligand), ligand,
                                    all.index_select(0, trained), torch::tensor({2, -1})},
                                   options)
                           .item<double>();
  const auto entropy = [&](int64_t row, const std::vector<int64_t>& among, int64_t right) {
    std::vector<double> exponent;
    for (const int64_t l : among) {
      exponent.push_back(
          std::exp(torch::cosine_similarity(predicted[row], all[l], 0).item<double>() /
                   options.temperature));
    }
    double sum = 0;
    for (const double e : exponent) sum += e;
    return -std::log(exponent[static_cast<std::size_t>(right)] / sum);
  };
  CHECK(found == Approx(entropy(0, {3, 0, 4}, 2) + entropy(1, {3, 0, 4, 1}, 3)).epsilon(1e-9));
}

TEST_CASE("ranks and retrieval metrics equal the golden ones", "[molecules][golden]") {
  const auto golden = test::fixture("rna3e_losses");
  if (!golden) return;
  const auto tensor = [&](const std::string& name) {
    return test::exact_of(*golden, "retrieval." + name);
  };
  const std::vector<float> ligands = floats(tensor("ligands")),
                           guess = floats(tensor("prediction"));
  const torch::Tensor truth = tensor("truth");
  std::vector<int32_t> right;
  for (int64_t i = 0; i < truth.numel(); ++i) right.push_back(truth[i].item<int32_t>());
  for (const std::string kind : {"euclidean", "cosine"}) {
    INFO(kind);
    const train::Catalogue catalogue{ligands, tensor("ligands").size(1), kind == "cosine"};
    const std::vector<int64_t> ranks = train::ranks_of(guess, right, catalogue);
    const torch::Tensor wanted = tensor(kind + ".rank");
    REQUIRE(static_cast<int64_t>(ranks.size()) == wanted.numel());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      CHECK(ranks[i] == wanted[static_cast<int64_t>(i)].item<int64_t>());
    }
    const nlohmann::json found = train::retrieval_metrics(ranks, catalogue.ligands());
    const auto same = [&](const char* name, const torch::Tensor& value) {
      INFO(name);
      CHECK(found.at(name).get<double>() == Approx(value.item<double>()).epsilon(1e-12));
    };
    const torch::Tensor hits = tensor(kind + ".hit_5_10_20");
    same("hit_5", hits[0]);
    same("hit_10", hits[1]);
    same("hit_20", hits[2]);
    const torch::Tensor recall = tensor(kind + ".recall_1_5_10_20");
    same("recall_1", recall[0]);
    same("recall_5", recall[1]);
    same("recall_10", recall[2]);
    same("recall_20", recall[3]);
    same("mrr", tensor(kind + ".mrr"));
    same("normalised_rank", tensor(kind + ".mean_normalised_rank"));
  }
}

TEST_CASE("who guesses is right by chance, and equal distances are no nearer", "[molecules]") {
  const nlohmann::json chance = train::chance_metrics(200);
  CHECK(chance.at("hit_5").get<double>() == Approx(0.05));
  CHECK(chance.at("hit_20").get<double>() == Approx(0.2));
  CHECK(chance.at("normalised_rank").get<double>() == Approx(0.5));
  CHECK(train::retrieval_metrics({}, 200).empty());
  const std::vector<float> same = {1, 0, 1, 0, 0, 1};
  const std::vector<float> guess = {2, 0};
  const std::vector<int32_t> right = {1};
  CHECK(train::ranks_of(guess, right, {same, 2, true}) == std::vector<int64_t>{1});
  CHECK(train::nearest({0.5, 0.1, 0.5, 0.0}, 3) == std::vector<int32_t>{3, 1, 0});
}
