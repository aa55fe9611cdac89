#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <string>
#include <vector>

#include "fields/texts/model/text_gcn.h"
#include "support/fields/texts/sparse_graphs.h"
#include "support/graphs/gradients.h"

using namespace kdgat;
using texts::NodeMask;
using texts::TextGcn;
using texts::TextGcnConfig;

namespace {

constexpr int64_t kDocuments = 9, kWords = 11, kNodes = kDocuments + kWords, kClasses = 3;

TextGcnConfig config_of(const std::string& name) {
  TextGcnConfig out;
  out.model = name;
  out.hidden_dims = {6};
  out.nodes = kNodes;
  out.classes = kClasses;
  return out;
}

TextGcn make(const TextGcnConfig& config) {
  TextGcn out(config, 7);
  out->to(at::kDouble);
  return out;
}

at::Tensor logits(TextGcn& model, const test::SparseGraph& g, const NodeMask& wanted,
                  const graph::NoiseKey& noise = {}) {
  const auto& config = model->config();
  // Kept: the backward pass looks at it.
  static std::vector<texts::ProductChain> chains;
  chains.push_back(texts::make_chain(g.matrix, wanted, config.layers(), config.use_bn));
  return model->finish(model->begin(*chains.back().front()), chains.back(), noise);
}

at::Tensor parameter(const TextGcn& model, const std::string& name) {
  return model->named_parameters()[name];
}

/// Rows of the documents.
at::Tensor of_documents(const at::Tensor& x) { return x.slice(0, 0, kDocuments); }

/// act(S I W1) S W2 ... as written, with the identity as a matrix.
at::Tensor plain_gcn(const TextGcn& model, const at::Tensor& s_NN) {
  at::Tensor h = torch::eye(kNodes, at::kDouble);
  const int64_t layers = model->config().layers();
  for (int64_t layer = 1; layer <= layers; ++layer) {
    h = s_NN.mm(h.mm(parameter(model, "weight" + std::to_string(layer))));
    if (layer < layers) h = torch::relu(h);
  }
  return h;
}

}  // namespace

TEST_CASE("text_gcn without the identity is text_gcn with it", "[text_gcn]") {
  const test::SparseGraph g = test::sparse_graph(kDocuments, kWords, 0.4);
  for (const std::vector<int64_t>& hidden : {std::vector<int64_t>{6}, {6, 5}, {4, 7, 5}}) {
    TextGcnConfig config = config_of("text_gcn");
    config.hidden_dims = hidden;
    TextGcn model = make(config);
    model->eval();
    const at::NoGradGuard no_grad;
    const at::Tensor expected = plain_gcn(model, g.dense_NN);
    const at::Tensor all = logits(model, g, test::all_of(kNodes));
    CHECK(torch::allclose(all, expected));
    // Only what documents need is computed, and it is the same.
    const at::Tensor some = logits(model, g, test::span_of(kNodes, 2, 5));
    CHECK(torch::allclose(some.slice(0, 2, 5), expected.slice(0, 2, 5)));
  }
}

TEST_CASE("sgc and ssgc are the powers of the graph times one weight", "[text_gcn]") {
  const test::SparseGraph g = test::sparse_graph(kDocuments, kWords, 0.4);
  for (const int64_t hops : {1, 2, 3}) {
    TextGcnConfig config = config_of("sgc");
    config.hops = hops;
    TextGcn sgc = make(config);
    config.model = "ssgc";
    config.alpha = 0.2;
    TextGcn ssgc = make(config);
    const at::NoGradGuard no_grad;
    parameter(sgc, "bias1").copy_(torch::arange(kClasses, at::kDouble));
    at::Tensor power = torch::eye(kNodes, at::kDouble), mean = torch::zeros_like(power);
    for (int64_t k = 0; k < hops; ++k) {
      power = g.dense_NN.mm(power);
      mean += (0.8 * power + 0.2 * torch::eye(kNodes, at::kDouble)) / static_cast<double>(hops);
    }
    const NodeMask documents = test::span_of(kNodes, 0, kDocuments);
    CHECK(torch::allclose(
        of_documents(logits(sgc, g, documents)),
        of_documents(power.mm(parameter(sgc, "weight1")) + parameter(sgc, "bias1"))));
    CHECK(torch::allclose(of_documents(logits(ssgc, g, documents)),
                          of_documents(mean.mm(parameter(ssgc, "weight1")))));
    CHECK(sgc->parameters().size() == 2);
  }
}

TEST_CASE("gradients of every form of the text models agree with finite differences",
          "[text_gcn]") {
  const test::SparseGraph g = test::sparse_graph(kDocuments, kWords, 0.4);
  std::vector<TextGcnConfig> configs = {config_of("text_gcn"), config_of("sgc"), config_of("ssgc")};
  for (const char* act : {"prelu", "sigmoid", "tanh"}) {
    configs.push_back(config_of("text_gcn"));
    configs.back().act = act;
    configs.back().bias = true;
  }
  configs.push_back(config_of("text_gcn"));
  configs.back().hidden_dims = {6, 5};
  configs.push_back(config_of("text_gcn"));
  configs.back().use_bn = true;
  configs.push_back(config_of("text_gcn"));
  configs.back().pred_type = "mlp";
  configs.back().hidden_dims = {14};
  const NodeMask documents = test::span_of(kNodes, 1, kDocuments);
  for (const TextGcnConfig& config : configs) {
    INFO(nlohmann::json(config).dump());
    TextGcn model = make(config);
    model->train();
    const auto loss = [&] {  // dropout included: its noise is that of the step
      return logits(model, g, documents, {3, 5}).slice(0, 1, kDocuments).pow(2).sum();
    };
    loss().backward();
    for (const auto& item : model->named_parameters()) {
      const at::Tensor& p = item.value();
      const at::NoGradGuard no_grad;
      double* value = p.data_ptr<double>();
      for (int64_t i = 0; i < p.numel(); i += 1 + p.numel() / 40) {
        INFO(item.key() << " " << i);
        constexpr double kStep = 1e-6;
        const double kept = value[i];
        value[i] = kept + kStep;
        const double high = loss().item<double>();
        value[i] = kept - kStep;
        const double low = loss().item<double>();
        value[i] = kept;
        CHECK(p.grad().view(-1)[i].item<double>() ==
              Approx((high - low) / (2 * kStep)).epsilon(1e-4).margin(1e-6));
      }
    }
  }
}

TEST_CASE("dropout is of the step alone, and off outside training", "[text_gcn]") {
  const test::SparseGraph g = test::sparse_graph(kDocuments, kWords, 0.4);
  const at::NoGradGuard no_grad;
  const NodeMask documents = test::span_of(kNodes, 0, kDocuments);
  for (const char* act : {"relu", "tanh"}) {
    TextGcnConfig config = config_of("text_gcn");
    config.act = act;
    TextGcn model = make(config);
    const at::Tensor first = logits(model, g, documents, {1, 1});
    CHECK(torch::equal(logits(model, g, documents, {1, 1}), first));
    CHECK_FALSE(torch::allclose(logits(model, g, documents, {1, 2}), first));
    CHECK_FALSE(torch::allclose(logits(model, g, documents, {2, 1}), first));
    model->eval();
    CHECK(torch::equal(logits(model, g, documents, {1, 1}), logits(model, g, documents, {1, 2})));
  }
}

TEST_CASE("weights come of the model's seed and leave LibTorch's generator alone", "[text_gcn]") {
  torch::manual_seed(5);
  const at::Tensor expected = torch::rand({4});
  torch::manual_seed(5);
  const TextGcn a(config_of("text_gcn"), 1), b(config_of("text_gcn"), 1),
      other(config_of("text_gcn"), 2);
  CHECK(torch::equal(torch::rand({4}), expected));
  CHECK(torch::equal(parameter(a, "weight1"), parameter(b, "weight1")));
  CHECK_FALSE(torch::equal(parameter(a, "weight1"), parameter(other, "weight1")));
  const double bound = std::sqrt(6.0 / (kNodes + 6));
  CHECK(parameter(a, "weight1").abs().max().item<double>() <= bound);
  CHECK(parameter(a, "weight1").abs().max().item<double>() > 0.9 * bound);
}
