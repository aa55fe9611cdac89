// Outputs of a teacher for every graph a student will see, in one memory-mapped file.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/objective/teacher.h"

namespace kdgat::objective {

/// The file of the cache below `folder`.
std::filesystem::path teacher_cache_file(const std::filesystem::path& folder);

/// Bytes of the outputs of `teacher` for `graphs`.
int64_t teacher_cache_bytes(const Teacher& teacher, const graph::GraphStore& store,
                            const std::vector<int64_t>& graphs);

/// Opens teacher_cache_file(), or first computes it where it is missing, damaged or of another key:
/// content of teacher and store, graphs, tensors, precision, format version. Whole or absent; who
/// owns `folder`, a step's, holds the lock of its run. `graphs` in any order. Throws Error(kData)
/// if the disk is full, and what progress() throws.
std::unique_ptr<Teacher> cache_teacher(ModelTeacher& teacher, const graph::GraphStore& store,
                                       const std::vector<int64_t>& graphs, const TeacherUse& use);

/// To be called once the student is saved: the file may be large and nobody else reads it.
void clear_teacher_cache(const std::filesystem::path& folder);

}  // namespace kdgat::objective
