"""What a store can do: one module a group of verbs, each written over the base backend."""
