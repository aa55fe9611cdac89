#include "fields/texts/textgcn/published_profile.h"

namespace kdgat::textgcn {

PublishedProfile published_profile(const std::string& stage) {
  const std::string options = "options." + stage + ".";
  PublishedProfile out;
  out.section = "model_config";
  out.options = "model_config.model_specific_params";
  out.paths = {
      {"experiment_name", "mlflow_experiment"},
      {"run_name", "run_name"},
      {"dataset.name", "dataset"},
      {"dataset.tvt_split", "data.tvt_split"},
      {"dataset.shuffle", "dataset.shuffle"},
      {"dataset.random_seed", "data.seed"},
      {"dataset.max_len", "data.max_len"},
      {"dataset.train_subsample", "data.train_subsample"},
      {"dataset.vocab_size", "data.vocab_size"},
      {"dataset.preprocess.remove_stopwords", "data.remove_stopwords"},
      {"dataset.preprocess.remove_rare_words", "data.remove_rare_words"},
      {"dataset.preprocess.vocab_size", "data.vocab_size"},
      {"dataset.gnn_encoding.x_type", "gnn_encoding.x_type"},
      {"dataset.gnn_encoding.window_size", "data.word_window"},
      {"dataset.gnn_encoding.embedding_dim", "gnn_encoding.embedding_dim"},
      {"dataset.gnn_encoding.preset", "gnn_encoding.preset"},
      {"model_config.model_type", options + "model"},
      {"model_config.common_params.epochs", options + "max_epochs"},
      {"model_config.common_params.batch_size", "common_params.batch_size"},
      {"model_config.common_params.seed", "seed"},
      {"model_config.common_params.device", "device"},
      {"model_config.common_params.log_batch_every_n", "common_params.log_batch_every_n"},
  };
  out.keys = {
      {"dataset.shuffle", {true}, "documents are always drawn by data.seed"},
      {"gnn_encoding.x_type", {"identity"}, "words and documents have no features but themselves"},
      {"gnn_encoding.embedding_dim", {}, "no effect: the identity has no width of its own"},
      {"gnn_encoding.preset", {}, "no effect: the keys beside it say all"},
      {"common_params.batch_size", {}, "no effect: a step is of the whole graph"},
      {"common_params.log_batch_every_n", {}, "no effect: every epoch is reported"},
  };
  out.refused = {{"dataset.rnn_encoding", "there are no recurrent models; gnn_encoding"}};
  out.defaults = {{"data.format", "text"},          {"data.cleaning", "seed"},
                  {"data.remove_stopwords", false}, {"data.remove_rare_words", 0},
                  {options + "bias", true},         {options + "use_bn", true},
                  {options + "stop", "best"}};
  return out;
}

}  // namespace kdgat::textgcn
