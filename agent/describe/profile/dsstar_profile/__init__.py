"""Profiles of data files, made by a program: what a careful colleague would say of them."""
