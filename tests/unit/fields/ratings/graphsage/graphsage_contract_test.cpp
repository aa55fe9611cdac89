#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>

#include "fields/ratings/graphsage/graphsage.h"
#include "support/fields/ratings/ratings_fixture.h"
#include "support/runs/stage_contract.h"

using namespace kdgat;

TEST_CASE("graphsage keeps the contract of stages", "[contract]") {
  graphsage::GraphsageOptions o;
  o.hidden_dim = 16;
  o.batch_size = 64;
  o.max_epochs = 3;
  o.loss = "combined";
  o.leave_target_out = true;
  test::check_contract(
      test::training_row<graphsage::Graphsage>(std::make_shared<test::RatingsFixture>(), o));
}
