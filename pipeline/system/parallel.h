// Work on many small things at once. Knows nothing of them.
#pragma once

#include <cstddef>
#include <functional>

namespace kdgat {

/// Calls `work` once for every index below `count`, in no order, on as many threads as this process
/// may use, and returns when all are done. `work` is called from several threads at a time; once it
/// throws, no further index is begun, and what it threw first is thrown again.
void for_each_at_once(std::size_t count, const std::function<void(std::size_t index)>& work);

}  // namespace kdgat
