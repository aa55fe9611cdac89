#include "pipeline/data/domains.h"

#include <array>

#include "engine/data/can/can_domain.h"
#include "engine/data/graphs/graphs_domain.h"
#ifdef KDGAT_FIELD_SPACE
#include "fields/space/data/space_domain.h"
#endif
#ifdef KDGAT_FIELD_TEXTS
#include "fields/texts/data/texts_domain.h"
#endif
#ifdef KDGAT_FIELD_RATINGS
#include "fields/ratings/data/ratings_domain.h"
#endif
#ifdef KDGAT_FIELD_MOLECULES
#include "fields/molecules/data/molecules_domain.h"
#endif

namespace kdgat::data {

Domains all_domains() {
  static const std::array domains = {
      &can_domain(),
      &graphs_domain(),
#ifdef KDGAT_FIELD_SPACE
      &space::space_domain(),
#endif
#ifdef KDGAT_FIELD_TEXTS
      &texts::texts_domain(),
#endif
#ifdef KDGAT_FIELD_RATINGS
      &ratings::ratings_domain(),
#endif
#ifdef KDGAT_FIELD_MOLECULES
      &molecules::molecules_domain(),
#endif
  };
  return domains;
}

}  // namespace kdgat::data
