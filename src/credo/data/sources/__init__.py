"""Where tables come from: frames, files, queries, each as a feed of Arrow batches."""
