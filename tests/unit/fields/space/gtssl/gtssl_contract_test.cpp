#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>

#include "fields/space/gtssl/gtssl.h"
#include "support/fields/space/tree_fixture.h"
#include "support/runs/stage_contract.h"

using namespace kdgat;

TEST_CASE("gtssl keeps the contract of stages", "[contract]") {
  gtssl::GtsslOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 2;
  test::check_contract(test::training_row<gtssl::Gtssl>(std::make_shared<test::TreeFixture>(), o));
}
