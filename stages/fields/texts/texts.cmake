# Documents, words and their graph.
kdgat_add_room(kdgat_graph stages/fields/texts/data
  stop_words synth_text text_clean text_columns text_corpus text_files text_graph text_import
  text_lines text_reader text_store texts_describe texts_domain)
if(KDGAT_ENGINE)
  kdgat_room_options(stages/fields/texts/model ${KDGAT_FAST})
  kdgat_add_room(kdgat_engine stages/fields/texts/model sparse_product text_gcn)
  kdgat_add_stage(fields/texts/textgcn published_profile text_memory text_splits text_trainer)
endif()
