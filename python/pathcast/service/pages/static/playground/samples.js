// Documents of formats that people have, each with an expression to begin with.
export const SAMPLES = [
  ["nitf", "NITF news", "//body.content[block/p[contains(., 'harbour')]]"],
  ["rss", "RSS feed", "/rss/channel/item[category = 'Weather']/title"],
  ["atom", "Atom feed", "//atom:entry[atom:author/atom:name = 'Ines Aalto']"],
  ["cap", "CAP alert", "/cap:alert/cap:info[cap:severity = 'Severe'][.//cap:geocode/cap:value = 'FI-18']"],
  ["ubl", "UBL invoice", "//cac:InvoiceLine[cbc:LineExtensionAmount > 500]"],
  ["cda", "HL7 CDA", "//hl:observation[hl:code/@code = '8480-6'][hl:value/@value >= 140]"],
  ["xmark", "XMark auction", "/site/open_auctions/open_auction[bidder/increase > 20]/@id"],
];

export async function sample(name) {
  const response = await fetch(`static/samples/${name}.xml`);
  if (!response.ok) throw new Error(`The sample ${name} is not there: ${response.status}.`);
  return response.text();
}
