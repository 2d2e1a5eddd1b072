package httpapi_test

import (
	"testing"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/conformance"
)

func newDoor(t *testing.T, s grounded.Service) conformance.Door { return newServiceOf(t, s).door }

func TestConformance(t *testing.T) { conformance.Run(t, newDoor) }

func TestRefusesMalformed(t *testing.T) { conformance.Refused(t, newDoor) }
