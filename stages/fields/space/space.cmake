# Graphs in space: neurons, points.
kdgat_room_options(stages/fields/space/data ${KDGAT_SMALL})
kdgat_add_room(kdgat_graph stages/fields/space/data
  labels neurons points space_describe space_domain spatial_builder spatial_graphs spatial_import
  subtrees swc synth_spatial)
if(KDGAT_ENGINE)
  kdgat_add_room(kdgat_engine stages/fields/space/model
    chunk_index graph_head growth path_features path_messages path_messages_count products sgmp
    sgmp_config sgmp_footprint spatial_tensors)
  kdgat_add_room(kdgat_engine stages/fields/space/objective
    graph_objective tree_objective tree_pairs)
  kdgat_add_room(kdgat_engine stages/fields/space/setup space_setup)
  kdgat_add_stage(fields/space/finetune)
  kdgat_add_stage(fields/space/gtssl)
endif()
