"""The judge: labelled sets of the repository, one row a figure, fails under the bars."""
