#include "data/domains.h"

#include <array>

#include "data/can/can_domain.h"
#include "data/graphs/graphs_domain.h"
#include "data/molecules/molecules_domain.h"
#include "data/ratings/ratings_domain.h"
#include "data/space/space_domain.h"
#include "data/texts/texts_domain.h"

namespace kdgat::graph {

Domains all_domains() {
  static const std::array<const Domain*, 6> domains = {&can_domain(),     &graphs_domain(),
                                                       &space_domain(),   &texts_domain(),
                                                       &ratings_domain(), &molecules_domain()};
  return domains;
}

}  // namespace kdgat::graph
