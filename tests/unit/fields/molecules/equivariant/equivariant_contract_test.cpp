#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>

#include "fields/molecules/equivariant/equivariant.h"
#include "support/fields/molecules/molecule_fixture.h"
#include "support/runs/stage_contract.h"

using namespace kdgat;

TEST_CASE("equivariant keeps the contract of stages", "[contract]") {
  equivariant::EquivariantOptions o;
  o.hidden_irreps = "6x0e + 4x1o + 3x2e";
  o.num_layers = 2;
  o.radial_hidden_dim = 8;
  o.max_epochs = 2;
  o.loss_fn = "catalogue";
  o.use_atom_kinds = true;
  o.use_plain_numbers = true;
  test::check_contract(
      test::training_row<equivariant::Equivariant>(std::make_shared<test::MoleculeFixture>(), o));
}
