"""The world of the agency: places, people, companies and topics, as stories and alerts name them."""

from __future__ import annotations

# fmt: off
PLACES = {
    "Lisbon": "PT", "Porto": "PT", "Oslo": "NO", "Bergen": "NO", "Tallinn": "EE", "Cork": "IE",
    "Dublin": "IE", "Leeds": "GB", "Cardiff": "GB", "Malaga": "ES", "Bilbao": "ES", "Gdansk": "PL",
    "Dresden": "DE", "Kiel": "DE", "Nantes": "FR", "Lyon": "FR", "Genoa": "IT", "Turin": "IT",
    "Patras": "GR", "Izmir": "TR", "Haifa": "IL", "Tunis": "TN", "Nairobi": "KE", "Mombasa": "KE",
    "Accra": "GH", "Lagos": "NG", "Durban": "ZA", "Perth": "AU", "Hobart": "AU", "Auckland": "NZ",
    "Kyoto": "JP", "Kobe": "JP", "Busan": "KR", "Manila": "PH", "Chennai": "IN", "Pune": "IN",
    "Karachi": "PK", "Colombo": "LK", "Bogota": "CO", "Lima": "PE", "Quito": "EC", "Recife": "BR",
    "Santos": "BR", "Rosario": "AR", "Havana": "CU", "Merida": "MX", "Montreal": "CA", "Halifax": "CA",
    "Boston": "US", "Seattle": "US",
}
PEOPLE = (
    "Moreno", "Lefort", "Okafor", "Lindqvist", "Haddad", "Novak", "Castellanos", "Byrne", "Yamada",
    "Petrov", "Adeyemi", "Fischer", "Rossi", "Kallas", "Oduya", "Sato", "Pereira", "Nilsen", "Demir",
    "Walsh", "Iyer", "Silva", "Mbeki", "Laurent", "Costa", "Hansen", "Tamm", "Reyes", "Fonseca",
    "Chaudhry",
)
FIRST_NAMES = (
    "Ines", "Amara", "Jonas", "Leila", "Tomas", "Nadia", "Kofi", "Elin", "Mateus", "Ruth", "Yusuf",
    "Clara", "Henrik", "Priya", "Daniel", "Sofia", "Omar", "Freya", "Paulo", "Mei",
)
OUTLETS = (
    "Harbour Post", "Morning Ledger", "Coast Radio", "City Gazette", "Market Wire", "Evening Star",
    "Weather Desk", "Union Paper",
)
COMPANIES = {
    "KSTL": "Kestrel Mining", "NRDK": "Nordkapp Shipping", "ALDR": "Alder Paper", "SOLA": "Solara Power",
    "TMBR": "Timberline", "QUAY": "Quayside Steel", "LUMN": "Lumen Optics", "ORCH": "Orchard Foods",
    "BRGR": "Bergrail", "CORA": "Coral Airways", "DELT": "Delta Cement", "ECHO": "Echo Telecom",
    "FENX": "Fenix Motors", "GALE": "Gale Turbines", "HELX": "Helix Pharma", "IRIS": "Iris Software",
    "JUNI": "Juniper Hotels", "LITH": "Lithia Cells", "MARE": "Mare Fisheries", "OPAL": "Opal Bank",
}
TOPICS = {
    "politics": ("election", "budget", "treaty", "reform", "inquiry", "summit"),
    "markets": ("copper", "wheat", "cotton", "lithium", "coffee", "timber"),
    "sports": ("final", "transfer", "injury", "record", "derby", "upset"),
    "weather": ("storm", "flood", "drought", "heatwave", "snow", "fog"),
    "culture": ("festival", "museum", "opera", "concert", "exhibition", "premiere"),
}
SAYINGS = (
    "We will know more by the end of the week", "Nobody here expected it so soon",
    "It is a good day for the town", "The figures speak for themselves",
    "We have been warning of this for years", "There is still time to change course",
)
# fmt: on

CATEGORIES = tuple(TOPICS)
LANGUAGES = ("en", "en", "en", "es", "fr")
