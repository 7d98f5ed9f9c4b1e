/** The same short story in twenty languages and twelve scripts. */
export const STORIES: Readonly<Record<string, string>> = {
  English:
    'The ferry leaves at six in the morning. If the wind is strong, the harbour master closes the gate and everybody waits.',
  German:
    'Die Fähre fährt um sechs Uhr morgens ab. Bei starkem Wind schließt der Hafenmeister die Schranke, und alle müssen warten.',
  French:
    'Le bac part à six heures du matin. Si le vent est fort, le maître du port ferme la barrière et tout le monde attend.',
  Spanish:
    'El transbordador sale a las seis de la mañana. Si el viento es fuerte, el capitán del puerto cierra la barrera y todos esperan.',
  Portuguese:
    'A balsa sai às seis da manhã. Se o vento for forte, o capitão do porto fecha a cancela e toda a gente espera.',
  Italian:
    'Il traghetto parte alle sei del mattino. Se il vento è forte, il capitano del porto chiude la sbarra e tutti aspettano.',
  Polish: 'Prom odpływa o szóstej rano. Gdy wieje silny wiatr, kapitan portu zamyka szlaban i wszyscy muszą czekać.',
  Czech: 'Přívoz odjíždí v šest hodin ráno. Když fouká silný vítr, správce přístavu zavře závoru a všichni čekají.',
  Turkish: 'Feribot sabah altıda kalkıyor. Rüzgâr güçlüyse liman başkanı kapıyı kapatır ve herkes bekler.',
  Vietnamese:
    'Chuyến phà khởi hành lúc sáu giờ sáng. Nếu gió mạnh, người quản lý bến cảng đóng cổng và mọi người phải chờ.',
  Indonesian:
    'Feri berangkat pukul enam pagi. Jika angin kencang, kepala pelabuhan menutup gerbang dan semua orang menunggu.',
  Russian: 'Паром отходит в шесть часов утра. Если ветер сильный, начальник порта закрывает ворота, и все ждут.',
  Ukrainian: 'Пором відходить о шостій ранку. Якщо вітер сильний, начальник порту зачиняє браму, і всі чекають.',
  Greek:
    'Το πλοίο φεύγει στις έξι το πρωί. Αν ο άνεμος είναι δυνατός, ο λιμενάρχης κλείνει την πύλη και όλοι περιμένουν.',
  Hebrew: 'המעבורת יוצאת בשש בבוקר. אם הרוח חזקה, מנהל הנמל סוגר את השער וכולם מחכים.',
  Arabic: 'تغادر العبّارة في السادسة صباحًا. إذا كانت الريح قوية يغلق مدير الميناء البوابة وينتظر الجميع.',
  Hindi: 'नाव सुबह छह बजे निकलती है। अगर हवा तेज़ हो तो बंदरगाह का अधिकारी फाटक बंद कर देता है और सब लोग इंतज़ार करते हैं।',
  Thai: 'เรือข้ามฟากออกเวลาหกโมงเช้า ถ้าลมแรง นายท่าจะปิดประตูและทุกคนต้องรอ',
  Chinese: '渡轮早上六点出发。如果风很大，港务长就会关上闸门，大家都得等着。',
  Japanese: 'フェリーは朝六時に出発します。風が強いときは港長がゲートを閉め、みんなが待ちます。',
  Korean: '페리는 아침 여섯 시에 출발합니다. 바람이 강하면 항만장이 문을 닫고 모두가 기다립니다.',
};
