#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>

#include "fields/texts/textgcn/textgcn.h"
#include "support/fields/texts/text_fixture.h"
#include "support/runs/stage_contract.h"

using namespace kdgat;

TEST_CASE("textgcn keeps the contract of stages", "[contract]") {
  textgcn::TextGcnOptions o;
  o.hidden_dims = {16};
  o.max_epochs = 12;
  for (const char* stop : {"mean_loss", "best"}) {  // the second keeps weights in its checkpoint
    INFO(stop);
    o.stop = stop;
    test::check_contract(
        test::training_row<textgcn::TextGcn>(std::make_shared<test::TextFixture>(), o));
  }
}
