// Made-up pockets: strands of RNA, each bound by one of several ligands that its sequence and its
// bends follow. For tests, examples and learning without downloads.
#pragma once

#include <filesystem>
#include <functional>

#include "engine/data/core/synth_size.h"

namespace kdgat::molecules {

/// Writes pocket_0000.pdb .., labels.csv (file, ligand) and ligands.safetensors (a vector for each
/// of the `classes` ligands) below `folder`; `nodes` are atoms. Throws Error(kData), and
/// Error(kInterrupted) once `cancelled` answers true.
void write_synthetic_molecules(const std::filesystem::path& folder, const data::SynthSize& options,
                               const std::function<bool()>& cancelled = {});

}  // namespace kdgat::molecules
