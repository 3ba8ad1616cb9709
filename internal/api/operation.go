package api

// Operation is a method and a path of the gateway, for the description of its API.
type Operation struct {
	Method, Path string
	Family       string // of SDKs, whose errors it has
	Scope        string // of the key; "": none, or by what is asked for
}
