package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/conformance"
)

// batchDoor runs each call as a batch of one line.
func batchDoor(_ *testing.T, service grounded.Service) conformance.Door {
	return func(ctx context.Context, op string, args []byte) ([]byte, error) {
		name, err := json.Marshal(op)
		if err != nil {
			return nil, err
		}
		line := fmt.Sprintf(`{"op":%s`, name)
		if len(args) > 0 {
			// One line is one request: what is valid goes on one line, the rest as it is.
			value := jsontext.Value(args).Clone()
			if value.IsValid() {
				if err := value.Compact(); err != nil {
					return nil, err
				}
			}
			line += `,"args":` + string(value)
		}
		var out bytes.Buffer
		if err := runBatch(ctx, service, nil, strings.NewReader(line+"}\n"), &out); err != nil {
			return nil, err
		}
		var reply batchReply
		first, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
		if err := json.Unmarshal(first, &reply); err != nil {
			return nil, err
		}
		if !reply.OK {
			return nil, reply.Error
		}
		return reply.Result, nil
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, batchDoor) }

func TestRefusesMalformed(t *testing.T) { conformance.Refused(t, batchDoor) }
