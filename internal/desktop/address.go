package desktop

import "strings"

// Label takes the one label before the domain out of a server name, in lower case. ok is false for
// other domains, further labels, a trailing dot, and what is not a label.
func (p Policy) Label(serverName string) (label string, ok bool) {
	cut := len(serverName) - len(p.Domain) - 1
	if cut < 1 || cut > maxLabel || serverName[cut] != '.' || lowerASCII(serverName[cut+1:]) != p.Domain {
		return "", false
	}
	label = lowerASCII(serverName[:cut])
	for i := range len(label) {
		if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "", false
		}
	}
	return label, true
}

// HasTokenForm reports whether a server name has the form of a VNC address: a label of a token's
// length right before the domain, live or not.
func (p Policy) HasTokenForm(serverName string) bool {
	label, ok := p.Label(serverName)
	return ok && len(label) == tokenLength
}

// TypedLabel reads a token as a person may have typed or pasted it into a password field: the
// token, or the whole VNC address.
func (p Policy) TypedLabel(text string) string {
	host, _, _ := strings.Cut(strings.TrimSpace(text), ":")
	if label, ok := p.Label(host); ok {
		return label
	}
	return host
}

// TypedPrefix reports whether a text that a person has typed can be the first characters of a
// token, and returns them for FindByPrefix. With VNCAuth they are enough in any password field,
// because that of Vinagre takes no more.
func (p Policy) TypedPrefix(text string) (prefix string, ok bool) {
	if !p.VNCAuth || len(text) != prefixLength {
		return "", false
	}
	return lowerASCII(text), true
}
