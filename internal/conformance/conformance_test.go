package conformance_test

import (
	"testing"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/conformance"
)

func direct(_ *testing.T, s grounded.Service) conformance.Door { return conformance.Direct(s) }

func TestDirect(t *testing.T) { conformance.Run(t, direct) }

func TestDirectRefuses(t *testing.T) { conformance.Refused(t, direct) }
