"""What is believed of graphs: a posterior over them, with the distributions of their families."""
