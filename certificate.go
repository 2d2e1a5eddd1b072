package grounded

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CertificateFormat names the layout of certificates that this version writes.
const CertificateFormat = "grounded-certificate/1"

// EngineVersion names the rules by which results are computed. It changes
// whenever the same plan on the same records could give another result.
const EngineVersion = "grounded/1.2"

// Certificate seals a read: the plan that was run, the scope and snapshot it
// ran on, what it selected, and a checksum over all of it. Verify runs the plan
// again and compares. A certificate is no signature: whoever can write to the
// store can make one, and it proves nothing about the world.
type Certificate struct {
	Format       string     `json:"format"`
	Engine       string     `json:"engine"`
	Tenant       string     `json:"tenant"`
	Namespace    string     `json:"namespace"`
	AsOf         time.Time  `json:"as_of"`
	Plan         Plan       `json:"plan"`
	ScopeDigest  Digest     `json:"scope_digest"`
	Evidence     []Evidence `json:"evidence"`
	ResultDigest Digest     `json:"result_digest"`
	Checksum     Digest     `json:"checksum"`

	raw jsontext.Value // as it was read, if it was no certificate at all
}

// Evidence is one selected record and the hash of its content.
type Evidence struct {
	ID   RecordID `json:"id"`
	Hash Digest   `json:"hash"`
}

// Plan is a read as data: the operation, its arguments with every default
// filled in and every text in its normal form, and the versions of the rules
// that it depends on. Exactly one of Query, Recall and RecallGrounded is set.
type Plan struct {
	Operation      string                 `json:"operation"`
	Query          *QueryRequest          `json:"query,omitzero"`
	Recall         *RecallRequest         `json:"recall,omitzero"`
	RecallGrounded *RecallGroundedRequest `json:"recall_grounded,omitzero"`
	Policy         string                 `json:"policy,omitzero"`      // the policy that ranked, after auto was resolved
	BankDigest     *Digest                `json:"bank_digest,omitzero"` // of the bank that holds it
	Heuristics     string                 `json:"heuristics"`           // versions of the text, screen and grammar rules
}

// wireCertificate is a Certificate without its methods.
type wireCertificate Certificate

// MarshalJSON writes the certificate; one that was malformed when read is
// written as it was read.
func (c Certificate) MarshalJSON() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	return json.Marshal(wireCertificate(c))
}

// UnmarshalJSON never fails: what is no certificate is kept as it is, and
// Verify calls it malformed.
func (c *Certificate) UnmarshalJSON(data []byte) error {
	var wire wireCertificate
	if err := decode(data, &wire); err != nil {
		*c = Certificate{raw: jsontext.Value(append([]byte(nil), data...))}
		return nil
	}
	*c = Certificate(wire)
	return nil
}

// CertificateIn finds the certificate in the JSON of a certificate, of a result
// that holds one, or of a batch's reply with such a result.
func CertificateIn(data []byte) (*Certificate, error) {
	var outer struct {
		Certificate jsontext.Value `json:"certificate"`
		Result      struct {
			Certificate jsontext.Value `json:"certificate"`
		} `json:"result"`
	}
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, invalid("certificate", "not the JSON of a certificate or of a result")
	}
	switch {
	case len(outer.Certificate) > 0:
		data = outer.Certificate
	case len(outer.Result.Certificate) > 0:
		data = outer.Result.Certificate
	}
	c := new(Certificate)
	return c, c.UnmarshalJSON(data)
}
