package operation

import "context"

type roleKey struct{}

// WithRole returns a context that says what its caller may do. A door that
// knows its callers sets it; the operations themselves know no roles.
func WithRole(ctx context.Context, role Role) context.Context {
	return context.WithValue(ctx, roleKey{}, role)
}

// RoleFrom returns the caller's role. Without one there is no door between the
// caller and the store, and everything is allowed: Admin.
func RoleFrom(ctx context.Context) Role {
	if role, ok := ctx.Value(roleKey{}).(Role); ok {
		return role
	}
	return Admin
}
