// A stage whose run() throws what no stage should.
#include "kdgat/stage.h"

struct Throws {
  struct Options {
    bool deep = false;
    static auto table() {
      return std::tuple{kdgat::field("deep", &Options::deep, "Throw an int.")};
    }
  };
  static kdgat::StageInfo info() { return {"throws", 1, "Throws.", {}, {}, {}}; }
  static nlohmann::json plan(const Options&, const kdgat::Request&) { throw std::bad_alloc(); }
  static nlohmann::json run(const Options& options, const kdgat::Request&, kdgat::Host&) {
    if (options.deep) throw 7;
    throw std::logic_error("the sky is green");
  }
};

KDGAT_STAGE(Throws)
