#include "engine/arrays/buffer.h"

#include <cstdlib>
#include <new>

namespace kdgat::arrays {
namespace {

BufferMemory memory = {[](std::size_t bytes) {
                         void* data = std::malloc(bytes);
                         if (data == nullptr && bytes > 0) throw std::bad_alloc();
                         return data;
                       },
                       [](void* pointer) { std::free(pointer); }};

}  // namespace

void set_buffer_memory(BufferMemory other) { memory = other; }

const BufferMemory& buffer_memory() { return memory; }

}  // namespace kdgat::arrays
