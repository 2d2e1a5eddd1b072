package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/explain"
)

// Inspector shows one scope of a store, read-only, to whoever has the token of
// its first address. The token works once; after that a cookie does.
type Inspector struct {
	service grounded.Service
	title   string
	pages   *template.Template
	handler http.Handler

	mu      sync.Mutex
	token   string // empty once it was used
	session string
}

// NewInspector makes an inspector over a service of which only reads are called.
func NewInspector(service grounded.Service, title string) (*Inspector, error) {
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	i := &Inspector{service: service, title: title, pages: pages, token: secret(), session: secret()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", i.redirect)
	mux.HandleFunc("GET /style.css", i.style)
	mux.HandleFunc("GET /records", i.records)
	mux.HandleFunc("GET /record/{id}", i.record)
	mux.HandleFunc("GET /contradictions", i.contradictions)
	mux.HandleFunc("GET /expiring", i.expiring)
	mux.HandleFunc("GET /query", i.query)
	mux.HandleFunc("GET /recall", i.recall)
	mux.HandleFunc("GET /verify", i.verifyPage)
	mux.HandleFunc("POST /verify", i.verify)
	i.handler = guard(i.admit(mux), "'self'", http.MethodGet, http.MethodHead, http.MethodPost)
	return i, nil
}

func secret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // documented never to fail
	return hex.EncodeToString(b)
}

// Address is the first address to open, which works once.
func (i *Inspector) Address(host string) string { return "http://" + host + "/?token=" + i.token }

// ServeHTTP answers one request.
func (i *Inspector) ServeHTTP(w http.ResponseWriter, r *http.Request) { i.handler.ServeHTTP(w, r) }

const cookie = "grounded-inspector"

// admit lets in who names this machine as host, comes from no other site, and
// has the cookie, or the token once.
func (i *Inspector) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || host != "127.0.0.1" && host != "localhost" && host != "::1" {
			http.Error(w, "this page is for this machine only", http.StatusForbidden)
			return
		}
		site := r.Header.Get("Sec-Fetch-Site")
		origin := r.Header.Get("Origin")
		if site != "" && site != "same-origin" && site != "none" || origin != "" && origin != "http://"+r.Host {
			http.Error(w, "not from another site", http.StatusForbidden)
			return
		}
		if token := r.URL.Query().Get("token"); token != "" {
			i.exchange(w, r, token)
			return
		}
		c, err := r.Cookie(cookie)
		if err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(i.session)) != 1 {
			http.Error(w, "open the address that grounded inspect printed; it works once", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// exchange gives the cookie for the token, once.
func (i *Inspector) exchange(w http.ResponseWriter, r *http.Request, token string) {
	i.mu.Lock()
	good := i.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(i.token)) == 1
	if good {
		i.token = ""
	}
	i.mu.Unlock()
	if !good {
		http.Error(w, "that address was used already; start grounded inspect again", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: i.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/records", http.StatusSeeOther)
}

func (i *Inspector) redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/records", http.StatusSeeOther)
}

func (i *Inspector) style(w http.ResponseWriter, _ *http.Request) {
	data, err := files.ReadFile("assets/style.css")
	if err != nil {
		http.Error(w, "no style", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(data)
}

func (i *Inspector) frame(title string) frame {
	return frame{Title: title, Root: "/", Foot: i.title + ", read-only. What stands in records is data that somebody supplied.", Nav: []link{
		{"/records", "Records"},
		{"/records?kind=bridge", "Bridges"},
		{"/contradictions", "Contradictions"},
		{"/expiring", "Expiring"},
		{"/query", "Query"},
		{"/recall", "Recall"},
		{"/verify", "Verify"},
	}}
}

func fail(w http.ResponseWriter, err error) {
	e := grounded.AsError(err)
	status := http.StatusInternalServerError
	switch e.Code {
	case grounded.InvalidArgument:
		status = http.StatusBadRequest
	case grounded.NotFound:
		status = http.StatusNotFound
	}
	http.Error(w, e.Error(), status)
}

const pageSize = 100

func (i *Inspector) records(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	req := &grounded.ListRequest{
		Kind: grounded.Kind(q.Get("kind")), State: grounded.State(q.Get("state")), Entity: q.Get("entity"),
		Predicate: q.Get("predicate"), Source: q.Get("source"), Session: q.Get("session"), Limit: pageSize,
	}
	if after := q.Get("after"); after != "" {
		id, err := grounded.ParseRecordID(after)
		if err != nil {
			fail(w, err)
			return
		}
		req.After = id
	}
	list, err := i.service.List(r.Context(), req)
	if err != nil {
		fail(w, err)
		return
	}
	page := struct {
		frame
		Filter        struct{ Kind, State, Entity, Predicate, Source string }
		Kinds, States []string
		Records       []row
		Next          string
	}{frame: i.frame("Records"), Records: rows(list.Records)}
	page.Filter.Kind, page.Filter.State, page.Filter.Entity, page.Filter.Predicate, page.Filter.Source = q.Get("kind"), q.Get("state"), q.Get("entity"), q.Get("predicate"), q.Get("source")
	page.Kinds = []string{"claim", "note", "bridge", "relation"}
	page.States = []string{"eligible", "corrected", "forgotten", "expired", "instruction_like"}
	if list.Next != 0 {
		q.Set("after", list.Next.String())
		page.Next = "/records?" + q.Encode()
	}
	render(w, i.pages, "list", page)
}

func rows(records []grounded.Record) []row {
	out := make([]row, len(records))
	for j := range records {
		out[j] = rowOf(&records[j], "/record/"+records[j].ID.String())
	}
	return out
}

func (i *Inspector) record(w http.ResponseWriter, r *http.Request) {
	id, err := grounded.ParseRecordID(r.PathValue("id"))
	if err != nil {
		fail(w, err)
		return
	}
	got, err := i.service.Get(r.Context(), &grounded.GetRequest{ID: id})
	if err != nil {
		fail(w, err)
		return
	}
	history, err := i.service.History(r.Context(), &grounded.HistoryRequest{ID: id})
	if err != nil {
		fail(w, err)
		return
	}
	page := struct {
		frame
		Records []row
		JSON    string
	}{frame: i.frame("Record " + id.String())}
	for _, entry := range history.Chain {
		record := entry.Record
		if record == nil {
			record = &grounded.Record{ID: entry.ID, Kind: got.Record.Kind}
		}
		one := rowOf(record, "/record/"+entry.ID.String())
		one.State = string(entry.State)
		page.Records = append(page.Records, one)
	}
	data, err := grounded.EncodeResult(got)
	if err != nil {
		fail(w, err)
		return
	}
	page.JSON = indented(data)
	render(w, i.pages, "record", page)
}

// group is some records that belong together.
type group struct {
	Name    string
	Records []row
}

type scanPage struct {
	frame
	Story  string
	Groups []group
	Next   string
}

// scanLimit is how many records one page of a scan looks at.
const scanLimit = 20_000

// scan visits eligible records of a kind from where the request says.
func (i *Inspector) scan(r *http.Request, kind grounded.Kind, visit func(*grounded.Record)) (next grounded.RecordID, err error) {
	var after grounded.RecordID
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = grounded.ParseRecordID(text); err != nil {
			return 0, err
		}
	}
	for seen := 0; ; {
		list, err := i.service.List(r.Context(), &grounded.ListRequest{Kind: kind, State: grounded.StateEligible, After: after, Limit: grounded.MaxListLimit})
		if err != nil {
			return 0, err
		}
		for j := range list.Records {
			visit(&list.Records[j])
		}
		if seen += len(list.Records); list.Next == 0 || seen >= scanLimit {
			return list.Next, nil
		}
		after = list.Next
	}
}

func (i *Inspector) contradictions(w http.ResponseWriter, r *http.Request) {
	type key struct{ entity, predicate string }
	groups := map[key][]grounded.Record{}
	next, err := i.scan(r, grounded.KindClaim, func(c *grounded.Record) {
		if c.Modality == grounded.Asserted {
			groups[key{c.Entity, c.Predicate}] = append(groups[key{c.Entity, c.Predicate}], *c)
		}
	})
	if err != nil {
		fail(w, err)
		return
	}
	page := scanPage{frame: i.frame("Contradictions"), Story: "Groups of eligible claims of one entity and predicate with different values, and who said what. The engine decides: each group is asked for."}
	for k, claims := range groups {
		if !slices.ContainsFunc(claims, func(c grounded.Record) bool { return c.Value != claims[0].Value }) {
			continue
		}
		asked, err := i.service.Query(r.Context(), &grounded.QueryRequest{
			Where:  []grounded.Atom{grounded.NewAtom(grounded.Const(k.entity), k.predicate, grounded.Var("v"))},
			Limits: grounded.QueryLimits{States: grounded.MaxStates, Alternatives: grounded.MaxAlternatives},
		})
		if err != nil {
			fail(w, err)
			return
		}
		if asked.Status == grounded.Conflict {
			page.Groups = append(page.Groups, group{k.entity + " " + k.predicate, rows(asked.Conflicts[0].Records)})
		}
	}
	slices.SortFunc(page.Groups, func(a, b group) int { return strings.Compare(a.Name, b.Name) })
	page.Next = goOn("/contradictions", next)
	render(w, i.pages, "scan", page)
}

func goOn(path string, next grounded.RecordID) string {
	if next == 0 {
		return ""
	}
	return path + "?after=" + url.QueryEscape(next.String())
}

func (i *Inspector) expiring(w http.ResponseWriter, r *http.Request) {
	var found []grounded.Record
	next, err := i.scan(r, "", func(c *grounded.Record) {
		if !c.ExpiresAt.IsZero() {
			found = append(found, *c)
		}
	})
	if err != nil {
		fail(w, err)
		return
	}
	slices.SortStableFunc(found, func(a, b grounded.Record) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	page := scanPage{frame: i.frame("Expiring"), Story: "Eligible records with an expiry, the soonest first.", Next: goOn("/expiring", next)}
	for j := range found[:min(len(found), pageSize)] {
		page.Groups = append(page.Groups, group{"expires " + found[j].ExpiresAt.Format(time.RFC3339), rows(found[j : j+1])})
	}
	render(w, i.pages, "scan", page)
}

// askPage is a form with its answer.
type askPage struct {
	frame
	Story, Action, Label, Asked, Error string
	Step                               *shown
}

// answer runs a read and shows its reply, drawing and packet.
func (i *Inspector) answer(ctx context.Context, result any, status grounded.Status, packed *grounded.PackResult) (*shown, error) {
	data, err := grounded.EncodeResult(result)
	if err != nil {
		return nil, err
	}
	d, err := explain.Draw(ctx, i.service, result)
	if err != nil {
		return nil, err
	}
	s := &shown{Status: string(status), Result: indented(data), Drawing: template.HTML(d.SVG())}
	if packed != nil && packed.Status == grounded.Packed {
		s.Packet, s.Size = packed.Packet, "the whole packet"
	}
	return s, nil
}

func (i *Inspector) query(w http.ResponseWriter, r *http.Request) {
	page := askPage{
		frame: i.frame("Query"), Action: "/query", Label: "Patterns, one a line: [\"?who\",\"manages\",\"Bob\"]", Asked: r.URL.Query().Get("q"),
		Story: "Joins up to six patterns over the facts. A variable begins with a question mark; the predicate is always a constant.",
	}
	if page.Asked != "" {
		req := new(grounded.QueryRequest)
		lines := strings.Split(strings.TrimSpace(page.Asked), "\n")
		err := grounded.DecodeRequest([]byte(`{"where":[`+strings.Join(lines, ",")+`],"pack":{"format":"text"}}`), req)
		if err == nil {
			var result *grounded.QueryResult
			if result, err = i.service.Query(r.Context(), req); err == nil {
				page.Step, err = i.answer(r.Context(), result, result.Status, result.Packed)
			}
		}
		if err != nil {
			page.Error = grounded.AsError(err).Error()
		}
	}
	render(w, i.pages, "ask", page)
}

func (i *Inspector) recall(w http.ResponseWriter, r *http.Request) {
	page := askPage{
		frame: i.frame("Recall"), Action: "/recall", Label: "Question", Asked: r.URL.Query().Get("q"),
		Story: "Finds related records under the rewrites that bridges permit, and shows which rewrites found each.",
	}
	if strings.TrimSpace(page.Asked) != "" {
		result, err := i.service.RecallGrounded(r.Context(), &grounded.RecallGroundedRequest{Query: page.Asked, Pack: &grounded.PackOptions{Format: "text"}})
		if err == nil {
			page.Step, err = i.answer(r.Context(), result, result.Status, result.Packed)
		}
		if err != nil {
			page.Error = grounded.AsError(err).Error()
		}
	}
	render(w, i.pages, "ask", page)
}

type verifyPage struct {
	frame
	Error string
	Step  *shown
}

func (i *Inspector) verifyPage(w http.ResponseWriter, _ *http.Request) {
	render(w, i.pages, "verify", verifyPage{frame: i.frame("Verify")})
}

func (i *Inspector) verify(w http.ResponseWriter, r *http.Request) {
	page := verifyPage{frame: i.frame("Verify")}
	result, err := i.verifyFile(w, r)
	if err == nil {
		var data []byte
		if data, err = grounded.EncodeResult(result); err == nil {
			page.Step = &shown{Status: string(result.Status), Result: indented(data)}
		}
	}
	if err != nil {
		page.Error = err.Error()
	}
	render(w, i.pages, "verify", page)
}

func (i *Inspector) verifyFile(w http.ResponseWriter, r *http.Request) (*grounded.VerifyResult, error) {
	r.Body = http.MaxBytesReader(w, r.Body, grounded.MaxRequestBytes)
	file, _, err := r.FormFile("file")
	if err != nil {
		return nil, errors.New("choose a file first")
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	certificate, err := grounded.CertificateIn(data)
	if err != nil {
		return nil, err
	}
	return i.service.Verify(r.Context(), &grounded.VerifyRequest{Certificate: certificate})
}
