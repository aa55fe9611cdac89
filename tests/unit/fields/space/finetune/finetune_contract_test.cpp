#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>

#include "fields/space/finetune/finetune.h"
#include "support/fields/space/tree_fixture.h"
#include "support/runs/stage_contract.h"

using namespace kdgat;

TEST_CASE("finetune keeps the contract of stages", "[contract]") {
  finetune::FinetuneOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 3;
  test::check_contract(
      test::training_row<finetune::Finetune>(std::make_shared<test::TreeFixture>(), o));
}
