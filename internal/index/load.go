package index

import (
	"context"
	"maps"
	"slices"

	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rewrite"
	"github.com/grounded-memory/grounded/internal/scopedigest"
)

// loadCore fills the core from its snapshot blob, else from the rows.
func (x *Index) loadCore(ctx context.Context, src Source, asOf int64) error {
	expired := x.view.expired
	x.reset()
	x.view.expired = expired
	x.relations = make(map[uint64]facts.Relation)
	x.view.digest = scopedigest.New()
	data, version, ok, err := src.Blob(corePart)
	if err != nil {
		return err
	}
	if ok {
		if body, intact := unframe(coreFormat, data); intact && x.decodeCore(body, version) {
			return nil
		}
		// A blob is never needed: one that does not read is dropped for the rows.
		x.reset()
		x.relations = make(map[uint64]facts.Relation)
		x.view.digest = scopedigest.New()
	}
	version, lastSeq, err := src.State()
	if err != nil {
		return err
	}
	n := 0
	err = src.Entries(0, 0, func(e *Entry) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x.admit(e, asOf)
		return nil
	})
	x.view.Version, x.lastSeq = version, lastSeq
	x.view.Relations = x.sortedRelations()
	return err
}

// sortedRelations lists the relations in force, by record.
func (x *Index) sortedRelations() []facts.Relation {
	out := make([]facts.Relation, 0, len(x.relations))
	for _, seq := range slices.Sorted(maps.Keys(x.relations)) {
		out = append(out, x.relations[seq])
	}
	return out
}

// loadParts loads the wanted parts that are not there yet.
func (x *Index) loadParts(ctx context.Context, src Source, want Parts) error {
	missing := want &^ x.view.parts
	for _, part := range []Parts{Facts, Notes, Bridges} {
		if missing&part == 0 {
			continue
		}
		ok, err := x.loadPart(ctx, src, part)
		if err == nil && !ok {
			err = x.buildPart(ctx, src, part)
		}
		if err != nil {
			return err
		}
		x.view.parts |= part
	}
	return nil
}

// loadPart loads one part from the blob that goes with the core's, and moves it
// on to the core's version: what came since is read from the rows, what left
// since is known.
func (x *Index) loadPart(ctx context.Context, src Source, part Parts) (bool, error) {
	if x.baseVersion == 0 {
		return false, nil
	}
	data, version, ok, err := src.Blob(partNames[part])
	if err != nil || !ok || version != x.baseVersion {
		return false, err
	}
	body, intact := unframe(partFormats[part], data)
	if !intact || !x.decodePart(part, body) {
		return false, nil
	}
	d, err := x.gather(ctx, src, x.baseSeq, part)
	if err != nil {
		return false, err
	}
	switch part {
	case Facts:
		x.view.AllFacts = x.view.AllFacts.Apply(d.facts, x.gone).WithRelations(x.view.Relations)
	case Notes:
		x.view.AllNotes = x.view.AllNotes.Apply(d.docs, x.gone)
	case Bridges:
		x.view.Rewrites = x.view.Rewrites.Apply(d.bridges, x.gone)
	}
	return true, nil
}

// buildPart builds one part from the rows.
func (x *Index) buildPart(ctx context.Context, src Source, part Parts) error {
	d, err := x.gather(ctx, src, 0, part)
	if err != nil {
		return err
	}
	switch part {
	case Facts:
		x.view.AllFacts = facts.Build(x.view.Relations, d.facts)
	case Notes:
		x.view.AllNotes = notes.Build(d.docs, notes.Options{})
	case Bridges:
		x.view.Rewrites = rewrite.Build(d.bridges)
	}
	return nil
}

// gather reads the eligible records after a sequence number for one part.
func (x *Index) gather(ctx context.Context, src Source, after uint64, part Parts) (*delta, error) {
	d, n := new(delta), 0
	err := src.Entries(after, part, func(e *Entry) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if x.slot(e.Seq).kind != None {
			d.add(e, part)
		}
		return nil
	})
	return d, err
}
