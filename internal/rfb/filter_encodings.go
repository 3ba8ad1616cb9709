package rfb

import "encoding/binary"

// Encodings and pseudo-encodings that a policy knows (RFC 6143, section 7.7 and 7.8.1, and
// extensions). The list of a viewer is in its order of preference. No encoding is added: a viewer
// cannot decode what it did not list.
const (
	encQuality0  = -32 // to -23: JPEG quality 0-9
	encQuality9  = -23
	encCompress0 = -256 // to -247: compression level 0-9
	encCompress9 = -247

	encContinuousUpdates = -313

	// UltraVNC's state, keep-alive, file transfer, session and idle time, and its plug-ins. Servers
	// that know them wait for messages of the viewer that are not sent on.
	encUltraFirst  = -0x8000
	encUltraLast   = -0x7ffc
	encUltraPlugin = -0x3f5e1a31

	// maxQuality is what TigerVNC asks for by default.
	maxQuality = encQuality0 + 8
	// maxCompress is zlib's own default; the levels above trade the workstation's time for few
	// bytes.
	maxCompress = encCompress0 + 6
)

// rewrite appends the encodings of list as p has them.
func (p Policy) rewrite(dst, list []byte) []byte {
	tight := false
	for at := 0; at < len(list) && p.PreferTight && !tight; at += 4 {
		tight = encoding(list[at:]) == EncodingTight
	}
	if tight {
		dst = appendEncoding(dst, EncodingTight)
	}
	for at := 0; at < len(list); at += 4 {
		e := encoding(list[at:])
		if p.removes(e) || tight && e == EncodingTight {
			continue
		}
		if p.PreferTight {
			e = capped(e)
		}
		dst = appendEncoding(dst, e)
	}
	return dst
}

// removes reports what must not be offered, because it would have the viewer or the server do what
// p does not allow.
func (p Policy) removes(e int32) bool {
	switch {
	case p.follows() && formOf(e) == 0 && e != EncodingExtendedClipboard:
		return true
	case p.Knows != nil && !p.Knows(e):
		return true
	case e == EncodingName:
		return p.Recorder != nil // viewers show the name that they had first, which says that it is recorded
	case e == EncodingButtons:
		return p.Framer == nil // it finds out whether the server knows them
	case e == encUltraPlugin, e >= encUltraFirst && e <= encUltraLast:
		return true
	case e == encContinuousUpdates:
		return p.noContinuous
	case e == EncodingExtendedClipboard:
		// Its server asks for the viewer's answer before it sends; without it, it sends plain text
		// unasked, and plain text can go in.
		return p.NoClipboardIn || p.NoClipboardOut || p.ViewOnly
	}
	return false
}

// capped lowers a quality or compression level that is above our highest. Any other encoding is
// returned as it is.
func capped(e int32) int32 {
	switch {
	case e > maxQuality && e <= encQuality9:
		return maxQuality
	case e > maxCompress && e <= encCompress9:
		return maxCompress
	}
	return e
}

func encoding(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }

func appendEncoding(dst []byte, e int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(e))
}
