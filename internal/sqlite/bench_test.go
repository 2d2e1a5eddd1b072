package sqlite

import (
	"slices"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

const claimBody = "a body of some length that is like a claim's canonical JSON, about two hundred bytes in all, as they come, with an entity, a predicate, a value and a source, each of them of some ten to forty bytes....."

// BenchmarkAgainstBare alternates a durable write of one row with a bare insert
// of the same row into one table, and reports the medians and their ratio.
func BenchmarkAgainstBare(b *testing.B) {
	db := open(b, temp(b))
	c, err := sqlite3.Open("file:" + temp(b))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE r(id INTEGER PRIMARY KEY, kind INTEGER, body BLOB, salt BLOB, digest BLOB, a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER)"); err != nil {
		b.Fatal(err)
	}
	s, _, err := c.Prepare("INSERT INTO r(kind,body,salt,digest,a,b,c,d,e) VALUES(1,?,?,?,1,2,3,4,5)")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var bare, ours []time.Duration
	var salt [16]byte
	var digest [32]byte
	n := 0
	for b.Loop() {
		n++
		begin := time.Now()
		_ = s.BindBlob(1, []byte(claimBody))
		_ = s.BindBlob(2, salt[:])
		_ = s.BindBlob(3, digest[:])
		if err := s.Exec(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(begin))
		begin = time.Now()
		if err := db.Update(ctx, acme, func(tx *WriteTx) error {
			_, err := tx.Insert(&Row{Kind: 1, Body: []byte(claimBody), GroupKey: int64(n) * 7919 * 1e12, SameKey: int64(n) * 104729 * 1e12, CreatedAt: 5})
			return err
		}); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(begin))
	}
	slices.Sort(bare)
	slices.Sort(ours)
	b.ReportMetric(float64(bare[len(bare)/2].Microseconds()), "µs-bare")
	b.ReportMetric(float64(ours[len(ours)/2].Microseconds()), "µs-ours")
	b.ReportMetric(float64(ours[len(ours)/2])/float64(bare[len(bare)/2]), "ratio")
}

func BenchmarkView(b *testing.B) {
	db := open(b, temp(b))
	if _, err := insert(db, acme, "x"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := db.View(ctx, acme, func(tx *ReadTx) error { _, err := tx.State(); return err }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	db := open(b, temp(b))
	for b.Loop() {
		if _, err := insert(db, acme, claimBody); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSixtyFourWriters(b *testing.B) {
	db := open(b, temp(b))
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := insert(db, acme, claimBody); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkBatch reports what one row of a batch of a thousand takes.
func BenchmarkBatch(b *testing.B) {
	db := open(b, temp(b))
	const rows = 1000
	n := int64(0)
	for b.Loop() {
		if err := db.Update(ctx, acme, func(tx *WriteTx) error {
			for range rows {
				n++
				if _, err := tx.Insert(&Row{Kind: 1, Body: []byte(claimBody), GroupKey: n * 7919 * 1e12, SameKey: n * 104729 * 1e12, CreatedAt: 5}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
