# Molecules: force fields, structures, pockets and ligands.
kdgat_room_options(stages/fields/molecules/data ${KDGAT_SMALL})
kdgat_add_room(kdgat_graph stages/fields/molecules/data
  amber elements force_field ligands mmcif molecule_files molecule_graph molecule_import
  molecule_labels molecule_store molecules_describe molecules_domain neighbours nucleotide_chain
  pdb rna_templates structure synth_molecules)
if(KDGAT_ENGINE)
  kdgat_room_options(stages/fields/molecules/model ${KDGAT_FAST})
  kdgat_add_room(kdgat_engine stages/fields/molecules/model
    card_product couplings equivariant_layers irreps message_layers molecule_edges molecule_view
    plain_numbers plain_tensor_product pocket_config pocket_count pocket_encoder pocket_footprint
    pocket_model pocket_v3 product_parts radial_network source_product target_product
    tensor_product)
  kdgat_add_room(kdgat_engine stages/fields/molecules/objective pocket_loss pocket_objective)
  kdgat_add_stage(fields/molecules/equivariant
    baselines physics plain_network pocket_data ranking_report)
  kdgat_add_stage(fields/molecules/ranking)
endif()
