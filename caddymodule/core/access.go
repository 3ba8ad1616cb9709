package core

// Access is what the gateway sends to a server to be let in.
type Access struct {
	// APIKey is the credential sent to the server: {env.NAME} or {file./path}. The file is read
	// again when it changes. Default: none is sent.
	APIKey string `json:"api_key,omitempty" placeholders:"yes"`

	// Auth is an account whose tokens or signatures authorize requests instead of APIKey. Default:
	// none.
	Auth Auth `json:"auth,omitempty"`

	// Header has fields for the header of every request, by name. A value can have one placeholder
	// {env.NAME} or {file./path}, which is a secret; the file is read again when it changes. Fields
	// that the gateway sets itself, and those of the connection, are not possible. Default: none.
	Header map[string]string `json:"header,omitempty" placeholders:"yes"`

	// Query has parameters for the URL of every request, by name. Default: none.
	Query map[string]string `json:"query,omitempty" placeholders:"refused"`
}

// Keyless reports whether nothing authorizes the gateway there.
func (a *Access) Keyless() bool { return a.APIKey == "" && a.Auth == nil && len(a.Header) == 0 }
