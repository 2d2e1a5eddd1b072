package eval

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report collects what policies did on a set.
type Report struct {
	Set       string         `json:"set"`
	Notes     int            `json:"notes"`
	Scopes    int            `json:"scopes"`
	Questions int            `json:"questions"`
	Bridges   int            `json:"bridges"`
	Policies  []string       `json:"policies"`
	Statuses  map[string]int `json:"statuses"` // of the first policy; those without results count as zero
	Table     []Row          `json:"table"`    // filled by Tabulate

	answers []map[string]answer // by policy, by question
}

type answer struct {
	category string
	measures Measures
	took     time.Duration
}

// Row is one policy on one category of questions, or on all.
type Row struct {
	Policy       string   `json:"policy"`
	Category     string   `json:"category"` // "all" for all
	Questions    int      `json:"questions"`
	Mean         Measures `json:"mean"`
	Interval     Interval `json:"ndcg@10_interval"`
	Gain         float64  `json:"ndcg@10_gain"` // against the first policy, question by question
	GainInterval Interval `json:"ndcg@10_gain_interval"`
	Milliseconds float64  `json:"milliseconds"` // mean of a question
}

// NewReport begins a report.
func NewReport(set *Set, policies []string) *Report {
	r := &Report{
		Set: set.Name, Notes: set.Notes(), Scopes: len(set.Scopes), Questions: set.Questions(), Bridges: len(set.Bridges),
		Policies: policies, Statuses: map[string]int{}, answers: make([]map[string]answer, len(policies)),
	}
	for i := range r.answers {
		r.answers[i] = map[string]answer{}
	}
	return r
}

// Add takes in the ranked list that a policy gave for a question.
func (r *Report) Add(policy int, q Question, ranked []string, status string, took time.Duration) {
	r.answers[policy][q.ID] = answer{q.Category, Measure(ranked, q.Grades), took}
	if policy == 0 {
		r.Statuses[status]++
	}
}

// Tabulate computes the table: for each policy all questions, then each category.
func (r *Report) Tabulate() {
	r.Table = nil
	categories := map[string]bool{}
	for _, a := range r.answers[0] {
		categories[a.category] = true
	}
	names := slices.Sorted(maps.Keys(categories))
	for i := range r.Policies {
		r.Table = append(r.Table, r.row(i, "all", func(string) bool { return true }))
		if len(names) < 2 {
			continue
		}
		for _, name := range names {
			r.Table = append(r.Table, r.row(i, name, func(c string) bool { return c == name }))
		}
	}
}

func (r *Report) row(policy int, category string, in func(string) bool) Row {
	var all []Measures
	var gains, base []float64
	var took time.Duration
	for _, id := range slices.Sorted(maps.Keys(r.answers[policy])) {
		a := r.answers[policy][id]
		if !in(a.category) {
			continue
		}
		all = append(all, a.measures)
		took += a.took
		gains = append(gains, a.measures.NDCG10)
		base = append(base, r.answers[0][id].measures.NDCG10)
	}
	row := Row{Policy: r.Policies[policy], Category: category, Questions: len(all), Mean: Mean(all), Interval: Bootstrap(gains)}
	row.Gain, row.GainInterval = Difference(base, gains)
	if len(all) > 0 {
		row.Milliseconds = took.Seconds() * 1000 / float64(len(all))
	}
	return row
}

// Chart draws nDCG@10 of every row of the table as an SVG bar chart with intervals.
func Chart(r *Report) string {
	rows := r.Table
	const left, bar, gap, width = 260, 18, 8, 500
	height := 50 + len(rows)*(bar+gap)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", left+width+80, height, left+width+80, height)
	b.WriteString(`<style>text{font:12px system-ui,sans-serif;fill:#1b1f24}rect{fill:#218bff}line{stroke:#1b1f24;stroke-width:1.5px}@media(prefers-color-scheme:dark){text{fill:#e6edf3}line{stroke:#e6edf3}}</style>` + "\n")
	fmt.Fprintf(&b, `<text x="10" y="22">%s: nDCG@10 with 95 %% intervals</text>`+"\n", escape(r.Set))
	for i, row := range rows {
		y := 40 + i*(bar+gap)
		x := func(v float64) int { return left + int(v*width) }
		fmt.Fprintf(&b, `<text x="10" y="%d">%s, %s (%d)</text><rect x="%d" y="%d" width="%d" height="%d"/>`, y+13, escape(row.Policy), escape(row.Category), row.Questions,
			left, y, int(row.Mean.NDCG10*width), bar)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">%.3f</text>`+"\n",
			x(row.Interval.Low), x(row.Interval.High), y+bar/2, y+bar/2, x(row.Interval.High)+6, y+13, row.Mean.NDCG10)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
