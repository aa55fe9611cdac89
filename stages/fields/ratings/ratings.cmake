# Users, items and their ratings.
kdgat_add_room(kdgat_graph stages/fields/ratings/data
  ratings ratings_describe ratings_domain ratings_import ratings_reader ratings_store synth_ratings)
if(KDGAT_ENGINE)
  kdgat_room_options(stages/fields/ratings/model ${KDGAT_FAST})
  kdgat_add_room(kdgat_engine stages/fields/ratings/model sage sage_footprint sage_ops sage_pairs)
  kdgat_add_stage(fields/ratings/graphsage rating_data rating_fit rating_metrics)
endif()
