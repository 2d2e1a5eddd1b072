package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
)

func Example() {
	ctx := context.Background()
	url, token, stop := startService() // e.g. https://memory.example.com and $GROUNDED_TOKEN
	defer stop()
	memory, err := client.New(url, client.Options{Token: token})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()

	written, err := memory.Remember(ctx, &grounded.RememberRequest{
		Entity: "Ada", Predicate: "manages", Value: "Bob", Source: "HR export 2026-03",
		IdempotencyKey: "hr-2026-03/ada/bob", // so that it may be tried again
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("stored as", written.ID)

	_, err = memory.Get(ctx, &grounded.GetRequest{ID: 99})
	fmt.Println("not found:", errors.Is(err, grounded.NotFound))

	// A token never goes out in clear text to another machine.
	_, err = client.New("http://memory.example.com", client.Options{Token: token})
	fmt.Println(err)
	// Output:
	// stored as r1
	// not found: true
	// invalid_argument: base_url: http is taken only for localhost, 127.0.0.0/8 and [::1]: anything else needs https
}
