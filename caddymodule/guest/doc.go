// Package guest has the interfaces of Caddy modules that others write for Gatehouse, and the types
// in their signatures. A module registers itself with [caddy.RegisterModule] in one of these
// namespaces, and xcaddy builds it in as any other plugin:
//
//	gatehouse.credentials.NAME  auth NAME { … }      what authorizes requests: [Account]
//	gatehouse.sources.NAME      source … { NAME … }  who may have which workstation: [Source]
//
// The package is unstable before version 1.0: a minor version may change it.
//
// [caddy.RegisterModule]: https://pkg.go.dev/github.com/caddyserver/caddy/v2#RegisterModule
package guest
