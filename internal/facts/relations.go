package facts

import "slices"

// resolver knows the declared relations by name.
type resolver struct {
	canonical map[string]string // names and aliases → canonical name
	declared  map[string]cardinality
}

func newResolver(relations []Relation) resolver {
	r := resolver{make(map[string]string), make(map[string]cardinality)}
	for i := range relations {
		rel := &relations[i]
		if _, taken := r.canonical[rel.Name]; taken {
			continue
		}
		r.canonical[rel.Name] = rel.Name
		r.declared[rel.Name] = declaredMulti
		if rel.Single {
			r.declared[rel.Name] = declaredSingle
		}
		for _, alias := range rel.Aliases {
			if _, taken := r.canonical[alias]; !taken {
				r.canonical[alias] = rel.Name
			}
		}
	}
	return r
}

func (r *resolver) resolve(name string) string {
	if canonical, ok := r.canonical[name]; ok {
		return canonical
	}
	return name
}

func sameRelations(a, b []Relation) bool {
	return slices.EqualFunc(a, b, func(a, b Relation) bool {
		return a.Name == b.Name && a.Single == b.Single && slices.Equal(a.Aliases, b.Aliases)
	})
}

// cloneRelations copies relations so that no caller can change them.
func cloneRelations(relations []Relation) []Relation {
	out := slices.Clone(relations)
	for i := range out {
		out[i].Aliases = slices.Clone(out[i].Aliases)
	}
	return out
}

// WithRelations returns the set under other declared relations. It costs little
// where no fact changes its predicate, else as much as building the set.
func (s *Set) WithRelations(relations []Relation) *Set {
	if sameRelations(s.relations, relations) {
		return s
	}
	names := newResolver(relations)
	if s.moves(&names) {
		return Build(relations, s.list(nil))
	}
	next := *s
	next.relations, next.names = cloneRelations(relations), names
	next.predicates = slices.Clone(s.predicates)
	for i, p := range s.predicates {
		declared := names.declared[s.terms.text(p.name)]
		if declared == p.declared {
			continue
		}
		changed := *p
		changed.declared = declared
		changed.findConflicts()
		next.conflicts += changed.conflicts.rows - p.conflicts.rows
		next.predicates[i] = &changed
	}
	return &next
}

// moves reports whether a name that may have facts resolves differently.
func (s *Set) moves(names *resolver) bool {
	for _, known := range []map[string]string{s.names.canonical, names.canonical} {
		for name := range known {
			before := s.names.resolve(name)
			if before == names.resolve(name) {
				continue
			}
			if _, ok := s.Predicate(before); ok {
				return true
			}
		}
	}
	return false
}
